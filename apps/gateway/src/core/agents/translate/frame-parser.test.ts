import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from '#core/base/values/json.ts'
import { FrameParser } from './frame-parser.ts'

const frame = (words: string) =>
  JSON.stringify({ id: 'chat-1', choices: [{ index: 0, delta: { content: words }, finish_reason: null }] })

/** Ways to embed a string in a frame; the last ones do not always yield valid JSON. */
const SHAPES: readonly ((words: string) => string)[] = [
  frame,
  (words) => frame(words).replace('null', '"stop"'),
  (words) => frame(words).replace('chat-1', 'chat-2'),
  (words) => `{"a":"b","__proto__":${JSON.stringify(words)}}`,
  (words) => `{"a":{"__proto__":{"b":${JSON.stringify(words)}}}}`,
  (words) => `{${JSON.stringify(words)}:"any words"}`,
  (words) => `{${JSON.stringify(words)}:1,"a":"other words","b":"any\\u0020words"}`,
  (words) => `{"content":${JSON.stringify(words)},"also":"any words"}`,
  (words) => `{"content":${JSON.stringify(words)},"content":"twice"}`,
  (words) => `${'['.repeat(12)}${JSON.stringify(words)}${']'.repeat(12)}`,
  (words) => `{"content":"${words}"}`,
  // A single quotation mark is both the last before the string and the first after it.
  (words) => frame(words).replace('""', '"'),
  (words) => words,
]

const WORDS = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constantFrom('', 'a', '"', '\\', '\n', 'any words', '{', '\u2028', '\ud83d', '","x":"', '\\"'),
)

test('any series of texts parses as JSON.parse would parse each', () => {
  const shapes = fc.array(fc.constantFrom(...SHAPES), { minLength: 1, maxLength: 3 })
  const texts = shapes.chain((of) =>
    fc.array(
      fc.tuple(fc.constantFrom(...of), WORDS).map(([shape, words]) => shape(words)),
      { maxLength: 20 },
    ),
  )
  fc.assert(
    fc.property(texts, (series) => {
      const frames = new FrameParser()
      for (const text of series) expect(frames.parse(text)).toStrictEqual(parseJson(text))
    }),
    { numRuns: process.env.SOAK ? 50_000 : 800 },
  )
})

test('a later frame does not change an earlier result', () => {
  const frames = new FrameParser()
  const words = ['one', 'two', 'three', 'four "quoted"', 'five']
  const results = words.map((each) => frames.parse(frame(each)))
  expect(results).toEqual(words.map((each) => JSON.parse(frame(each))))
})

test('frames that differ in more than one string are parsed normally', () => {
  const frames = new FrameParser()
  for (let count = 0; count < 100; count += 1) {
    const text = `{"n":${count},"content":"word ${count}"}`
    expect(frames.parse(text)).toEqual(JSON.parse(text))
  }
})
