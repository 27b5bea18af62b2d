/** nonce returns the nonce of the content policy for styles of libraries. The server writes it into the page. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
}
