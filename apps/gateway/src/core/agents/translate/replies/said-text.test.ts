import { describe, expect, test } from 'vitest'
import { SaidText } from './said-text.ts'

function said(...pieces: readonly string[]): SaidText {
  const text = new SaidText()
  for (const piece of pieces) text.add(piece)
  return text
}

test.each([
  [['Let me ', 'check. ', 'It is 21 °C.\n'], 'It is 21 °C.', true],
  [['Hello'], ' Hello\n', true],
  [['Let me check.'], 'Which Springfield?', false],
])('%j ends with %j: %s', (pieces, text, expected) => {
  expect(said(...pieces).endsWith(text)).toBe(expected)
})

test.each([
  [['Hello', ', '], 'Hello, world', 'world'],
  [['Hello'], 'Hello', ''],
  [[], 'Hello', 'Hello'],
  [['Hello'], 'Bye', undefined],
])('what %j lacks of %j is %j', (pieces, whole, rest) => {
  expect(said(...pieces).restOf(whole)).toBe(rest)
})

describe('a text of many megabytes', () => {
  const piece = 'abcdefgh'.repeat(64 * 1_024)
  const pieces = Array.from({ length: 8 }, () => piece)
  const whole = pieces.join('')

  test('is recognized by its end', () => {
    expect(said(...pieces).endsWith(whole)).toBe(true)
    expect(said(...pieces).endsWith(`${whole}!`)).toBe(false)
  })

  test('is continued by what it lacks', () => {
    expect(said(...pieces).restOf(`${whole}!`)).toBe('!')
  })
})
