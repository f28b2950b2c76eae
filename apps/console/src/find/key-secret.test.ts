import { expect, test } from 'vitest'
import { keyPrefixIn, withoutKeySecret } from './key-secret.ts'

const KEY = `tl_${'aB3dE6gH9'.padEnd(49, 'z')}`

test.each([
  KEY,
  ` ${KEY}\n`,
  `Authorization: Bearer ${KEY}`,
  `export API_KEY="${KEY}"`,
  KEY.slice(0, 13),
  `${KEY}trailing`,
])('of %j only the prefix of the key is left', (text) => {
  expect(keyPrefixIn(text)).toBe('tl_aB3dE6gH9')
  expect(withoutKeySecret(text)).toBe('tl_aB3dE6gH9')
})

test.each(['', 'tl_', 'tl_aB3dE6gH9', 'ticket-42', '019d0000-0000-774b-bcce-b302099a8057', 'html_report'])(
  '%j contains no secret',
  (text) => {
    expect(keyPrefixIn(text)).toBeUndefined()
    expect(withoutKeySecret(text)).toBe(text)
  },
)
