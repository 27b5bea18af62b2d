/**
 * idempotencyKey returns a new key for a request that may be sent twice and must have its effect once.
 * crypto.randomUUID is missing on pages without TLS.
 */
export function idempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}
