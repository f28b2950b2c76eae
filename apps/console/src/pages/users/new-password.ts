/** Without letters and digits that look alike, because people read such passwords aloud. */
const CHARACTERS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const LENGTH = 20

/** A random password of some 115 bits. */
export function newPassword(): string {
  const password: string[] = []
  while (password.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) {
      // Bytes above the last whole multiple would make the first characters more frequent.
      if (byte >= 256 - (256 % CHARACTERS.length)) continue
      if (password.length < LENGTH) password.push(CHARACTERS[byte % CHARACTERS.length] ?? '')
    }
  }
  return password.join('')
}
