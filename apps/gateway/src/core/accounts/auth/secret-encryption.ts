import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'

const IV_BYTES = 12
const TAG_BYTES = 16

/** Encrypts short secrets for storage, with AES-256-GCM and a key derived from the installation's `SECRET_KEY`. */
export function createSecretEncryption(secretKey: string, randomBytes: (size: number) => Buffer) {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'trunkline stored secrets', 32))
  const options = { authTagLength: TAG_BYTES }

  return {
    /**
     * Encrypts a text; decryption needs the same `context`, so that an encrypted value cannot be copied to another row.
     *
     * @returns base64url of IV, ciphertext and authentication tag
     */
    encrypt(text: string, context: string): string {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv, options).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, body, cipher.getAuthTag()]).toString('base64url')
    },
    /** @throws Error if the secret key or the context is different, or the encrypted text was changed */
    decrypt(sealed: string, context: string): string {
      const bytes = Buffer.from(sealed, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), options)
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-TAG_BYTES))
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}
