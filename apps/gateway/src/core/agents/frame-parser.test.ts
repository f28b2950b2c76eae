import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameParser } from './frame-parser.ts'
import { parseJson } from './json.ts'

const frame = (words: string, id = 'chat-1') =>
  JSON.stringify({ id, choices: [{ index: 0, delta: { content: words }, finish_reason: null }], usage: null })

test('any series of texts reads as JSON.parse reads each', () => {
  const words = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'a', '"', '\\', '\n', 'any words', '{', '\u2028', '\ud83d', '","x":"'),
  )
  const key = fc.constantFrom('content', 'x', '__proto__', 'any words')
  const text = fc.oneof(
    { weight: 6, arbitrary: words.map((each) => frame(each)) },
    {
      weight: 2,
      arbitrary: fc.tuple(key, words).map(([name, each]) => `{"a":"b","${name}":${JSON.stringify(each)}}`),
    },
    { weight: 1, arbitrary: fc.tuple(words, words).map(([each, id]) => frame(each, id)) },
    // As they are, which mostly is no JSON: words that would end their string and go on.
    { weight: 1, arbitrary: words.map((each) => `{"content":"${each}"}`) },
    { weight: 1, arbitrary: fc.json() },
  )
  fc.assert(
    fc.property(fc.array(text, { maxLength: 30 }), (texts) => {
      const frames = new FrameParser()
      for (const each of texts) expect(frames.parse(each)).toStrictEqual(parseJson(each))
    }),
    { numRuns: 2_000 },
  )
})

test('what it gave stays as it was', () => {
  const frames = new FrameParser()
  const words = ['one', 'two', 'three', 'four "quoted"', 'five']
  const given = words.map((each) => frames.parse(frame(each)))
  expect(given).toEqual(words.map((each) => JSON.parse(frame(each))))
})

test('frames that differ in more than their words are taken as they come, however many', () => {
  const frames = new FrameParser()
  for (let count = 0; count < 100; count += 1) {
    const text = `{"n":${count},"content":"word ${count}"}`
    expect(frames.parse(text)).toEqual(JSON.parse(text))
  }
})
