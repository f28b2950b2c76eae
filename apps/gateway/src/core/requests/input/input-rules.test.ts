import { expect, test } from 'vitest'
import { isLongerThan, requireOneOf, requireText } from './input-rules.ts'

test('a surrogate pair counts as one character', () => {
  expect(isLongerThan('😀'.repeat(3), 3)).toBe(false)
  expect(isLongerThan('😀'.repeat(4), 3)).toBe(true)
  expect(isLongerThan('abcd', 3)).toBe(true)
  expect(isLongerThan('abcdefg', 3)).toBe(true)
  expect(isLongerThan('', 0)).toBe(false)
})

test('an empty or overlong text is rejected, and the error names its field', () => {
  const refused = 'username: expected a string of 1 to 3 characters.'
  for (const text of ['', 'abcd']) {
    expect(() => requireText(['username'], text, 3)).toThrow(expect.objectContaining({ detail: refused }))
  }
  expect(() => requireText(['username'], 'abc', 3)).not.toThrow()
})

test('a word must be undefined or in the list', () => {
  expect(() => requireOneOf(['period'], ['day', 'month'], 'year')).toThrow(
    expect.objectContaining({ detail: 'period: expected one of day, month.' }),
  )
  expect(() => requireOneOf(['period'], ['day'], 'day')).not.toThrow()
  expect(() => requireOneOf(['period'], ['day'], undefined)).not.toThrow()
})
