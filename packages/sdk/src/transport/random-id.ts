/** 128 random bits as a text. Not `randomUUID`, which pages without TLS do not have. */
export function randomId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}
