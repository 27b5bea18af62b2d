/** nonce is what the styles of libraries need, by the policy of the page: the server writes it into the index. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
}
