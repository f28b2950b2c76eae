import { expect, test } from 'vitest'
import { isPlatformId } from './platform-id.ts'

test.each([
  'b2c0d7f4-5f0e-4f2e-9e0c-0c6a2f9f1a11',
  '7342866812345678901',
  'Gespräch 1 / ünïcode 😀',
  'x'.repeat(256),
])('%j is accepted as an id', (id) => {
  expect(isPlatformId(id)).toBe(true)
})

test.each(['a\0b', 'a\nb', 'a\u007fb', 'a\u0085b', 'a\ud800b', '\udc00', 'x'.repeat(257)])(
  '%j is rejected as an id',
  (id) => {
    expect(isPlatformId(id)).toBe(false)
  },
)
