import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'

const IV_BYTES = 12
const TAG_BYTES = 16

/** Seals short secrets for storage: AES-256-GCM under a key derived from the installation's `SECRET_KEY`. */
export interface SecretEncryption {
  /** `context` must be the same to open it again: a sealed value cannot be moved to another row. */
  encrypt(text: string, context: string): string
  /** Throws where the secret key or the context is another, or the text was changed. */
  decrypt(sealed: string, context: string): string
}

export function createSecretEncryption(
  secretKey: string,
  randomBytes: (size: number) => Buffer,
): SecretEncryption {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'trunkline stored secrets', 32))
  const options = { authTagLength: TAG_BYTES }

  return {
    encrypt(text, context) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv, options).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, body, cipher.getAuthTag()]).toString('base64url')
    },
    decrypt(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), options)
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-TAG_BYTES))
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}
