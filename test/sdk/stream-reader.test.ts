import fc from 'fast-check'
import { beforeAll, expect, test, vi } from 'vitest'
import { expectedOutcome, outcomeOf } from '../support/chat-stream-outcome.ts'

const encoder = new TextEncoder()
const HELLO = chunkOf('Hello')
const LAST = '{"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":"stop"}]}'
const DONE = 'data: [DONE]\n\n'

beforeAll(() => {
  // The package reports malformed events there as well.
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
})

/** Streams by what is particular about them. Each is read whole and cut at every position. */
const STREAMS: Readonly<Record<string, string | Uint8Array>> = {
  'two chunks': `data: ${HELLO}\n\ndata: ${LAST}\n\n${DONE}`,
  'carriage returns': `data: ${HELLO}\r\rdata: ${LAST}\r\r${DONE}`,
  'carriage returns with line feeds': `data: ${HELLO}\r\n\r\ndata: ${LAST}\r\n\r\ndata: [DONE]\r\n\r\n`,
  'line endings mixed': `data: 1\r\n\rdata: 2\n\r\ndata: 3\r\n\ndata: 4\r\r\n\n\rdata: 5\n\r${DONE}`,
  'a byte order mark': `\uFEFFdata: 1\n\n${DONE}`,
  'byte order marks in front of every line': `\uFEFFdata: 1\n\uFEFF\n\uFEFFdata: 2\n\n\uFEFF\uFEFFdata: 3\n\n${DONE}`,
  'a byte order mark inside a line': `data: "\uFEFFa"\n\ndata: \uFEFF1\n\n${DONE}`,
  comments: `: keep-alive\n\n:\n\ndata: 1\n: between\ndata: \n\n:data: 2\n\n${DONE}`,
  'data of several lines': `data: {"a":\ndata: 1,\ndata:"b": 2}\n\n${DONE}`,
  'a string broken by a line': `data: "a\ndata: b"\n\n${DONE}`,
  'missing and further spaces': `data:1\n\ndata:  2\n\n data: 3\n\ndata : 4\n\n${DONE}`,
  'other fields': `id: 7\nretry: 10\nfoo: bar\nDATA: 1\ndata1: 2\nid\ndata: 3\n\n${DONE}`,
  'numbers after and before the data': `data: ${HELLO}\nid: 1\n\nid: 2\ndata: ${LAST}\n\ndata: [DONE]\nid: 3\n\n`,
  'numbers alone, twice, empty and odd': `id: 1\n\ndata: 1\nid: 1\nid: 2\n\nid:\ndata: 2\n\nid: a\\0\ndata: 3\nretry: 5\n: c\n\n${DONE}`,
  'empty data': `data:\n\ndata: \n\ndata\n\ndata: 1\n\n${DONE}`,
  'data that is a line feed': `data\ndata\n\n${DONE}`,
  'an event without data': `event: ping\n\ndata: 1\n\nevent:\n\nevent\n\ndata: 2\n\n${DONE}`,
  'named events': `event: message\ndata: 1\n\nevent: a\nevent: b\ndata: 2\n\n${DONE}`,
  'events of Assistants': `event: thread.run\ndata: {"error":1}\n\ndata: 1\n\n${DONE}`,
  'an event with the name error': `data: 1\n\nevent: error\ndata: {"code":"agent_error","message":"no"}\n\ndata: 2\n\n`,
  'an event with the name error that holds one': `event: error\ndata: {"error":{"code":"agent_error"}}\n\n`,
  'an event with the name error and a text': 'event: error\ndata: no\n\n',
  'an event with the name error and null': 'event: error\ndata: null\n\n',
  'an error': `data: ${HELLO}\n\ndata: {"error":{"message":"no","type":"x","code":"agent_truncated","param":null}}\n\n`,
  'an error that is a text': `data: {"error":"no"}\n\n`,
  'errors that are none': `data: {"error":null}\n\ndata: {"error":""}\n\ndata: {"error":0}\n\n${DONE}`,
  'JSON that is no chunk': `data: null\n\ndata: 1\n\ndata: "a"\n\ndata: []\n\ndata: {"choices":"no"}\n\n${DONE}`,
  'bad JSON': `data: ${HELLO}\n\ndata: {"a":\n\ndata: 1\n\n${DONE}`,
  'text after JSON': `data: {} {}\n\n${DONE}`,
  'characters of two, three and four bytes': `data: ${chunkOf('é 中文 🎉 \u2028 e\u0301')}\n\n${DONE}`,
  'bytes that are no UTF-8': bytes('data: "', [0xff, 0xc3], '"\n\ndata: "', [0xe4, 0xb8], '"\n\n', DONE),
  'a character cut by a line': bytes('data: "', [0xf0, 0x9f], '\n', [0x8e, 0x89], '"\n\n', DONE),
  'bytes after the end': `${DONE}data: 1\n\n`,
  'an end that is almost one': `data: [DONE] \n\n`,
  'an end in quotes': `data: "[DONE]"\n\n`,
  'an end with two spaces': `data:  [DONE]\n\n`,
  'an end without a space': `data:[DONE]\n\n`,
  'an end with a name': `event: error\ndata: [DONE]\n\n`,
  'an end of two lines': `data: [DONE]\ndata: [DONE]\n\n`,
  'an end without a blank line': `data: 1\n\ndata: [DONE]\n`,
  'an end without a line ending': `data: 1\n\ndata: [DONE]`,
  'a last chunk without a blank line': `data: ${HELLO}\n\ndata: ${LAST}`,
  'a last chunk without an end': `data: ${LAST}\n\n`,
  'a chunk after the last one': `data: ${LAST}\n\ndata: ${HELLO}\n\n`,
  'no end': `data: ${HELLO}\n\n`,
  'half a chunk': `data: ${HELLO.slice(0, 20)}`,
  'half a character': bytes('data: "', [0xe4, 0xb8]),
  'comments alone': ': keep-alive\n\n: keep-alive\n\n',
  nothing: '',
  'blank lines': '\n\r\n\r\r\n\n',
  'a page': '<!DOCTYPE html>\n<html>\n\n<body>data: 1</body></html>\n',
}

test.each(Object.entries(STREAMS))(
  '%s: read as the openai package reads it, cut anywhere',
  async (_, stream) => {
    const whole = typeof stream === 'string' ? encoder.encode(stream) : stream
    const expected = await expectedOutcome([whole])
    expect(await outcomeOf([whole])).toEqual(expected)
    for (let at = 0; at <= whole.length; at += 1) {
      const pieces = [whole.subarray(0, at), whole.subarray(at)]
      expect(await expectedOutcome(pieces), `the package, cut at ${at}`).toEqual(expected)
      expect(await outcomeOf(pieces), `cut at ${at}`).toEqual(expected)
    }
    const single = Array.from(whole, (byte) => Uint8Array.of(byte))
    expect(await outcomeOf(single), 'byte by byte').toEqual(expected)
  },
)

const lineEnd = fc.constantFrom('\n', '\r', '\r\n')
/** Lines that are good for themselves, so that most streams are read to their end. */
const line = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('', 'data: 1', `data: ${HELLO}`, 'data:"é中🎉"', 'data:\t[2]') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(': comment', 'id: 1', 'event: a', 'event:', 'data', 'data:', '\uFEFF'),
  },
)
const events = fc
  .array(fc.tuple(line, lineEnd, fc.boolean(), lineEnd), { maxLength: 16 })
  .map((lines) =>
    encoder.encode(lines.map(([text, end, isLast, more]) => text + end + (isLast ? more : '')).join('')),
  )
/** Anything: most of it is refused early. */
const part = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('\n', '\n\n', '\r', '\r\r', '\r\n', '\r\n\r\n') },
  {
    weight: 4,
    arbitrary: fc.constantFrom('data: ', 'data:', 'data', 'event: ', 'event: error\n', 'id: 1\n', ': c\n'),
  },
  { weight: 4, arbitrary: fc.constantFrom(`data: ${HELLO}\n\n`, `data: ${LAST}\n\n`, 'data: 1\n\n', DONE) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('[DONE]', LAST, '{"error":{"code":"a"}}', ' ', ':', '\uFEFF', 'thread.a'),
  },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => `data: ${JSON.stringify(value)}\n\n`) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
)
const noise = fc
  .array(
    fc.oneof(
      { weight: 12, arbitrary: part.map((text) => encoder.encode(text)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 4 }) },
    ),
    { maxLength: 24 },
  )
  .map((pieces) => Buffer.concat(pieces))
const stream = fc.record({
  bytes: fc
    .array(fc.oneof({ weight: 3, arbitrary: events }, noise), { maxLength: 3 })
    .map((all) => Buffer.concat(all)),
  sizes: fc.array(fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 60 })), {
    maxLength: 40,
  }),
})

test('any bytes, cut in any way, are read as the openai package reads them', async () => {
  await fc.assert(
    fc.asyncProperty(stream, async ({ bytes: whole, sizes }) => {
      const pieces = cut(whole, sizes)
      expect(await outcomeOf(pieces)).toEqual(await expectedOutcome(pieces))
    }),
    { numRuns: process.env.SOAK ? 150_000 : 1_000, seed: 13 },
  )
}, 600_000)

function chunkOf(content: string): string {
  const choice = { index: 0, delta: { role: 'assistant', content }, finish_reason: null }
  return JSON.stringify({
    id: 'demo-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [choice],
  })
}

function bytes(...parts: (string | number[])[]): Uint8Array {
  return Buffer.concat(
    parts.map((text) => (typeof text === 'string' ? encoder.encode(text) : Uint8Array.from(text))),
  )
}

/** Cuts off pieces of these sizes; the last one is what remains. */
function cut(whole: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  let left = whole
  const pieces = sizes.map((size) => {
    const first = left.subarray(0, size)
    left = left.subarray(first.length)
    return first
  })
  return [...pieces, left]
}
