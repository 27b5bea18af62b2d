/** once is a new key of a request that may be sent twice and must be done once. crypto.randomUUID is missing on pages without TLS. */
export function once(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}
