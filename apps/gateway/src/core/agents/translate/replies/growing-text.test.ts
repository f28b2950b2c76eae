import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GrowingText } from './growing-text.ts'

function read(texts: readonly string[]): string {
  const growing = new GrowingText()
  return [...texts.map((text) => growing.add(text)), growing.end()].join('')
}

describe('texts of which each may be whole', () => {
  test.each([
    [['On', 'On the', 'On the shelf.'], 'On the shelf.'],
    [['你', '你好', '你好，世界'], '你好，世界'],
    [['On the ', 'On the shelf.', 'On the shelf.'], 'On the shelf.'],
    [['', 'On', '', 'On the'], 'On the'],
    [['1', '12', '12 a', '12 apples'], '12 apples'],
    [['ha', 'haha', 'haha, indeed', 'haha, indeed so'], 'haha, indeed so'],
    [['On the shelf', 'On the shelf', 'On the shelf, below'], 'On the shelf, below'],
    [['Yes.', 'Yes.'], 'Yes.'],
    [['42', '42', '42'], '42'],
  ])('%j are one answer that grows', (texts, whole) => {
    expect(read(texts)).toBe(whole)
  })

  test.each([
    [['On ', 'the shelf', '.']],
    [['ha', 'ha', 'ha!']],
    [['ha', 'haha']],
    [['1', '1']],
    [['好', '好']],
    [['-', '-', '-', '\n']],
    [['`', '`', '`js']],
    [['1', '11']],
    [['  ', '   x']],
    [['On the shelf']],
  ])('%j are pieces', (texts) => {
    expect(read(texts)).toBe(texts.join(''))
  })

  test('a message that was changed at its end goes on behind what is the same', () => {
    expect(read(['On the', 'On the ', 'On the', 'On the shelf'])).toBe('On the shelf')
  })

  test('a message that is another one goes on as a piece', () => {
    expect(read(['On the', 'On the shelf', 'Below'])).toBe('On the shelfBelow')
  })

  test('what never decides is not held back for ever', () => {
    const growing = new GrowingText()
    const given = Array.from({ length: 3_000 }, () => growing.add('-')).join('')
    expect(given.length).toBeGreaterThan(1_500)
    expect(given + growing.end()).toBe('-'.repeat(3_000))
  })

  test('every text that begins with a letter is read whole, however it grows', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map((rest) => `Well${rest}`)
    fc.assert(
      fc.property(text, fc.array(fc.nat(40)), (text, lengths) => {
        const grown = [4, ...lengths.map((length) => length + 4)].toSorted((a, b) => a - b)
        const texts = [...new Set([...grown.map((length) => text.slice(0, length)), text])]
        expect(read(texts)).toBe(text)
      }),
    )
  })
})
