import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecretEncryption } from './secret-encryption.ts'

const encryption = createSecretEncryption('k'.repeat(32), randomBytes)

test('what was sealed opens again, and never looks the same twice', () => {
  const sealed = encryption.encrypt('a sécret', 'row 1')
  expect(encryption.decrypt(sealed, 'row 1')).toBe('a sécret')
  expect(encryption.encrypt('a sécret', 'row 1')).not.toBe(sealed)
})

test('it does not open under another key, for another row, or changed', () => {
  const sealed = encryption.encrypt('a secret', 'row 1')
  expect(() => createSecretEncryption('x'.repeat(32), randomBytes).decrypt(sealed, 'row 1')).toThrow()
  expect(() => encryption.decrypt(sealed, 'row 2')).toThrow()
  const bytes = Buffer.from(sealed, 'base64url')
  bytes.writeUInt8(bytes.readUInt8(14) ^ 1, 14)
  expect(() => encryption.decrypt(bytes.toString('base64url'), 'row 1')).toThrow()
  expect(() => encryption.decrypt('', 'row 1')).toThrow()
})
