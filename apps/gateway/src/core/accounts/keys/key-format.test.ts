import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashKey, isWellFormedKey, KEY_PREFIX_LENGTH, makeApiKey } from './key-format.ts'

const ZERO = `tl_${'0'.repeat(43)}`

test('a key is tl_, 43 digits of 256 random bits and 6 digits of CRC-32', () => {
  expect(makeApiKey(randomBytes)).toMatch(/^tl_[0-9A-Za-z]{49}$/)
  expect(makeApiKey(() => Buffer.alloc(32)).slice(0, 46)).toBe(ZERO)
  const most = makeApiKey(() => Buffer.alloc(32, 0xff)).slice(3, 46)
  expect(decoded(most)).toBe(2n ** 256n - 1n)
})

test('every generated key is well-formed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      expect(isWellFormedKey(makeApiKey(() => Buffer.from(bytes)))).toBe(true)
    }),
  )
})

test('a single wrong character of a key is detected', () => {
  const key = makeApiKey(randomBytes)
  fc.assert(
    fc.property(
      fc.nat(key.length - 1),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      (index, wrong) => {
        fc.pre(key[index] !== wrong)
        expect(isWellFormedKey(key.slice(0, index) + wrong + key.slice(index + 1))).toBe(false)
      },
    ),
  )
})

test.each(['', 'tl_', ZERO, `${ZERO}000000`, `${ZERO}zzzzzz`, 'x'.repeat(52)])(
  'the text %j is not a key',
  (text) => {
    expect(isWellFormedKey(text)).toBe(false)
  },
)

test('the stored hash is SHA-256 of the whole key', () => {
  expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(KEY_PREFIX_LENGTH).toBe(12)
})

function decoded(digits: string): bigint {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  return [...digits].reduce((sum, digit) => sum * 62n + BigInt(alphabet.indexOf(digit)), 0n)
}
