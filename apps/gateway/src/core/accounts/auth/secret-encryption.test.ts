import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecretEncryption } from './secret-encryption.ts'

const encryption = createSecretEncryption('k'.repeat(32), randomBytes)

test('decryption returns the encrypted text, and encrypting it twice gives different results', () => {
  const sealed = encryption.encrypt('a sécret', 'row 1')
  expect(encryption.decrypt(sealed, 'row 1')).toBe('a sécret')
  expect(encryption.encrypt('a sécret', 'row 1')).not.toBe(sealed)
})

test('decryption fails with another key, for another row and after a change', () => {
  const sealed = encryption.encrypt('a secret', 'row 1')
  expect(() => createSecretEncryption('x'.repeat(32), randomBytes).decrypt(sealed, 'row 1')).toThrow()
  expect(() => encryption.decrypt(sealed, 'row 2')).toThrow()
  const bytes = Buffer.from(sealed, 'base64url')
  bytes.writeUInt8(bytes.readUInt8(14) ^ 1, 14)
  expect(() => encryption.decrypt(bytes.toString('base64url'), 'row 1')).toThrow()
  expect(() => encryption.decrypt('', 'row 1')).toThrow()
})
