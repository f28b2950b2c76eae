import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isObject } from '#core/base/values/json.ts'
import { ToolCalls } from '#core/calls/reading/tool-calls.ts'
import { ToolCallPieces } from './tool-call-pieces.ts'

/** A call that a model makes. */
interface Meant {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

const meant = fc.array(
  fc.record({
    name: fc.constantFrom('weather', 'time', 'search'),
    args: fc.dictionary(fc.constantFrom('city', 'zone', 'q'), fc.string({ unit: 'grapheme' }), {
      minKeys: 1,
    }),
  }),
  { minLength: 1, maxLength: 4 },
)

/** How a server numbers its calls and names them. */
const style = fc.record({
  index: fc.constantFrom('from 0', 'from 1', 'always 0', 'always -1', 'text', 'none'),
  id: fc.constantFrom('first', 'every', 'empty', 'none'),
  args: fc.constantFrom('whole', 'object', 'pieces'),
  repeatsName: fc.boolean(),
  oneEvent: fc.boolean(),
})
type Style = typeof style extends fc.Arbitrary<infer Value> ? Value : never

function piecesOf(calls: readonly Meant[], style: Style): readonly (readonly object[])[] {
  const perCall = calls.map(({ name, args }, number) => {
    const text = JSON.stringify(args)
    const texts = style.args === 'pieces' ? (text.match(/.{1,3}/gsu) ?? []) : [text]
    return texts.map((piece, at) => ({
      ...indexOf(style, number),
      ...(style.id === 'every' || (style.id === 'first' && at === 0) ? { id: `id-${number}` } : {}),
      ...(style.id === 'empty' && { id: '' }),
      function: {
        ...((at === 0 || style.repeatsName) && { name }),
        arguments: style.args === 'object' ? args : piece,
      },
    }))
  })
  // Only whole calls come in one event.
  return style.oneEvent && style.args !== 'pieces' ? [perCall.flat()] : perCall.flat().map((piece) => [piece])
}

function indexOf({ index }: Style, number: number): object {
  switch (index) {
    case 'from 0':
      return { index: number }
    case 'from 1':
      return { index: number + 1 }
    case 'always 0':
      return { index: 0 }
    case 'always -1':
      return { index: -1 }
    case 'text':
      return { index: String(number) }
    default:
      return {}
  }
}

test('calls arrive as they were meant, however a server numbers and cuts them', () => {
  fc.assert(
    fc.property(meant, style, (calls, style) => {
      const pieces = new ToolCallPieces('call_1')
      const collected = new ToolCalls()
      const written = piecesOf(calls, style).flatMap((event) => pieces.write(event))
      collected.add(written)
      expect(collected.list.map((call) => call.function)).toEqual(
        calls.map(({ name, args }) => ({ name, arguments: JSON.stringify(args) })),
      )
      expect(new Set(collected.list.map(({ id }) => id)).size).toBe(calls.length)
      expect(
        collected.list.every(({ id, type }) => typeof id === 'string' && id !== '' && type === 'function'),
      ).toBe(true)
      const indexes = written.map(({ index }) => index)
      expect([...new Set(indexes)]).toEqual(calls.map((_, number) => number))
    }),
    { numRuns: process.env.SOAK ? 10_000 : 300 },
  )
})

test('fields that only the server understands are kept, since it wants them back', () => {
  const extra_content = { google: { thought_signature: 'abc' } }
  const [piece] = new ToolCallPieces('call_1').write([
    { id: 'a', extra_content, function: { name: 'f', arguments: '{}' } },
  ])
  expect(piece).toEqual({
    index: 0,
    id: 'a',
    type: 'function',
    extra_content,
    function: { name: 'f', arguments: '{}' },
  })
})

test.each([
  ['a function without a wrapper', { name: 'f', arguments: { a: 1 } }],
  ['a part of a content', { type: 'tool_use', name: 'f', input: { a: 1 } }],
  ['a call without type and id', { function: { name: 'f', arguments: '{"a":1}' } }],
])('%s is a call of a function', (_form, piece) => {
  expect(new ToolCallPieces('call_3').write([piece])).toEqual([
    { index: 0, id: 'call_3_0', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
  ])
})

test('a server cannot make the gateway keep any number of calls', () => {
  const pieces = new ToolCallPieces('call_1')
  const written = Array.from({ length: 1_000 }, (_, id) =>
    pieces.write([{ id: `${id}`, function: { name: `f${id}` } }]),
  )
  expect(written.flat()).toHaveLength(128)
  expect(pieces.write([null, 5, 'x', []]).filter(isObject)).toEqual([])
})

test('arguments that come in small pieces, each with the name, are read once', () => {
  const pieces = new ToolCallPieces('call_1')
  const write = (args: string) => pieces.write([{ index: 0, function: { name: 'f', arguments: args } }])
  write('{"a":[')
  for (let count = 0; count < 50_000; count += 1) write(`{"b":"}${'x'.repeat(100)}"},`)
  // The last piece makes them whole, so that the next one with this name begins another call.
  expect(write('{}]}')).toMatchObject([{ index: 0 }])
  expect(write('{}')).toMatchObject([{ index: 1, id: 'call_1_1' }])
})
