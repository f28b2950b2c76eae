import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSealer } from './secret-encryption.ts'

const sealer = createSealer('k'.repeat(32), randomBytes)

test('what was sealed opens again, and never looks the same twice', () => {
  const sealed = sealer.seal('a sécret', 'row 1')
  expect(sealer.open(sealed, 'row 1')).toBe('a sécret')
  expect(sealer.seal('a sécret', 'row 1')).not.toBe(sealed)
})

test('it does not open under another key, for another row, or changed', () => {
  const sealed = sealer.seal('a secret', 'row 1')
  expect(() => createSealer('x'.repeat(32), randomBytes).open(sealed, 'row 1')).toThrow()
  expect(() => sealer.open(sealed, 'row 2')).toThrow()
  const bytes = Buffer.from(sealed, 'base64url')
  bytes.writeUInt8(bytes.readUInt8(14) ^ 1, 14)
  expect(() => sealer.open(bytes.toString('base64url'), 'row 1')).toThrow()
  expect(() => sealer.open('', 'row 1')).toThrow()
})
