/** Not `randomUUID`, which browsers offer on HTTPS and on this machine alone. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
