import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ThinkTags } from './think-tags.ts'

/** The reasoning and the text of an answer that comes in these pieces. */
function read(pieces: readonly string[]) {
  const tags = new ThinkTags()
  const events = [...pieces.flatMap((text) => tags.take({ type: 'text', text })), ...tags.end()]
  const join = (type: string) =>
    events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('')
  return { reasoning: join('reasoning'), text: join('text') }
}

const ANSWERS = [
  ['<think>plan</think>answer', 'plan', 'answer'],
  [
    ' \n<think>\nplan < b </thin\n</think>\n\nThe <think> tag.',
    '\nplan < b </thin\n',
    '\n\nThe <think> tag.',
  ],
  ['<think></think>answer', '', 'answer'],
  ['<think>never closed </thi', 'never closed </thi', ''],
  ['<think>only</think>\n', 'only', ''],
  ['answer with <think>tags</think>', '', 'answer with <think>tags</think>'],
  ['<thin air', '', '<thin air'],
  ['  ', '', '  '],
] as const

test.each(ANSWERS)('%j has the reasoning %j and the text %j, however it is cut', (whole, reasoning, text) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: whole.length }), { minLength: 1 }), (sizes) => {
      const pieces: string[] = []
      for (let from = 0, turn = 0; from < whole.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1
        pieces.push(whole.slice(from, from + size))
        from += size
      }
      expect(read(pieces)).toEqual({ reasoning, text })
    }),
  )
})

test('a text that replaces the answer is read in the same way', () => {
  const tags = new ThinkTags()
  expect(tags.take({ type: 'replace', text: '<think>a</think>b' })).toEqual([
    { type: 'reasoning', text: 'a' },
    { type: 'replace', text: 'b' },
  ])
})

test('white space in single characters costs no more than its length', () => {
  const spaces = Array.from({ length: 500_000 }, () => ' ')
  expect(read([...spaces, '<think>', 'a', '</think>', ...spaces, 'b'])).toEqual({
    reasoning: 'a',
    text: `${spaces.join('')}b`,
  })
})
