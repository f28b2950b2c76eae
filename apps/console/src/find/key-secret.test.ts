import { expect, test } from 'vitest'
import { addressWithoutKeySecrets, keyPrefixIn, withoutKeySecret } from './key-secret.ts'

const KEY = `tl_${'aB3dE6gH9'.padEnd(49, 'z')}`

test.each([
  KEY,
  ` ${KEY}\n`,
  `Authorization: Bearer ${KEY}`,
  `export API_KEY="${KEY}"`,
  KEY.slice(0, 13),
  `${KEY}trailing`,
  `https://elsewhere.example/?to=%3D${KEY}`,
  `"Authorization: Bearer\\n${KEY}"`,
  `${KEY.slice(0, 6)} ${KEY.slice(6)}`,
  `${KEY.slice(0, 8)}\r\n  ${KEY.slice(8, 30)}\\\n${KEY.slice(30)}`,
  `${KEY.slice(0, 5)}\u200b${KEY.slice(5)}`,
])('of %j only the prefix of the key is left', (text) => {
  expect(keyPrefixIn(text)).toBe('tl_aB3dE6gH9')
  expect(withoutKeySecret(text)).toBe('tl_aB3dE6gH9')
})

test.each([
  '',
  'tl_',
  'tl_aB3dE6gH9',
  'ticket-42',
  '019d0000-0000-774b-bcce-b302099a8057',
  'html_report',
  'etl_transformation_daily',
  'tl_ab of alice',
])('the text %j contains no secret and stays as it is', (text) => {
  expect(keyPrefixIn(text)).toBeUndefined()
  expect(withoutKeySecret(text)).toBe(text)
})

test('an address keeps everything but the secrets of its keys', () => {
  expect(addressWithoutKeySecrets(`http://host/console/keys/${KEY}?a=1&b=%22${KEY}%22#${KEY}`)).toBe(
    'http://host/console/keys/tl_aB3dE6gH9?a=1&b=%22tl_aB3dE6gH9%22#tl_aB3dE6gH9',
  )
  const other = 'http://host/console/calls?app=etl_transformation'
  expect(addressWithoutKeySecrets(other)).toBe(other)
})
