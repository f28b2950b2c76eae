import { expect, test } from 'vitest'
import { normalizeUsername, passwordProblem, usernameKey } from './user-rules.ts'

test.each(['ada', 'ada.lovelace@example.com', 'A-1_b', '小明同学', 'हिन्दी', 'x'.repeat(64)])(
  'the username %s is accepted unchanged',
  (name) => expect(normalizeUsername(name)).toBe(name),
)

test.each([
  'ab',
  'x'.repeat(65),
  'a b c',
  ' ada',
  'ada\n',
  'a/b/c',
  'ada:',
  'a\u0000bc',
  'ada\u200b',
  '\u0301ada',
  '',
])('the username %j is rejected', (name) => expect(normalizeUsername(name)).toBeUndefined())

test('a username is measured and stored in NFKC, so that variants of width and composition are the same name', () => {
  expect(normalizeUsername('ａｄａ１')).toBe('ada1')
  expect(normalizeUsername('zoe\u0308')).toBe('zo\u00eb')
  expect(normalizeUsername('a\u0308b')).toBeUndefined()
})

test('names that differ in case share a key', () => {
  expect(usernameKey('Ada.Ö')).toBe(usernameKey('aDA.ö'))
  expect(usernameKey('ada')).not.toBe(usernameKey('adb'))
})

test('a password has 8 to 256 characters, whatever their size in code units', () => {
  const accepted = ['12345678', 'x'.repeat(256), '😀'.repeat(8), '😀'.repeat(256), '        ']
  const refused = ['', '1234567', '😀'.repeat(7), 'x'.repeat(257), '😀'.repeat(257), 'x'.repeat(100_000)]
  expect(accepted.map(passwordProblem)).toEqual(accepted.map(() => undefined))
  expect(refused.map(passwordProblem)).toEqual(refused.map(() => 'expected a string of 8 to 256 characters'))
})
