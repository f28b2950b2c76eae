import { Trunkline } from '@trunkline/sdk'
import { withGraphQL } from '@trunkline/sdk/graphql'
import fc from 'fast-check'
import { createClient } from 'graphql-sse'
import { expect, test } from 'vitest'
import { bodyOf } from '../support/chat-stream-outcome.ts'

const encoder = new TextEncoder()
const headers = { 'content-type': 'text/event-stream' }

/** The items of a subscription, and whether it ended in order. */
interface Outcome {
  readonly items: readonly unknown[]
  readonly isComplete: boolean
}

async function outcomeOf(items: AsyncIterable<unknown>): Promise<Outcome> {
  const all: unknown[] = []
  try {
    for await (const item of items) all.push(item)
    return { items: all, isComplete: true }
  } catch {
    return { items: all, isComplete: false }
  }
}

function readByTheSdk(pieces: readonly Uint8Array[]): Promise<Outcome> {
  const fetch = async () => new Response(bodyOf(pieces), { headers })
  const gql = withGraphQL(new Trunkline({ baseURL: 'http://gateway.test', fetch }))
  return outcomeOf(gql.subscribe('subscription { n }'))
}

async function readByGraphqlSse(pieces: readonly Uint8Array[]): Promise<Outcome> {
  const fetchFn = async () => new Response(bodyOf(pieces), { headers })
  const client = createClient({ url: 'http://gateway.test', retryAttempts: 0, fetchFn })
  const { items, isComplete } = await outcomeOf(client.iterate({ query: 'subscription { n }' }))
  return { items: items.map((item) => Object(item).data), isComplete }
}

const LINE_ENDS = ['\n', '\r\n', '\r'] as const

/** The lines of streams, each of an event without its end. */
const STREAMS: Readonly<Record<string, readonly string[]>> = {
  'two items': [
    'event: next',
    'data: {"data":{"n":1}}',
    '',
    'event: next',
    'data: {"data":{"n":"é 🚂"}}',
    '',
  ],
  'data of several lines': ['event: next', 'data: {"data":', 'data: {"n":', 'data:1}}', ''],
  'fields in another order, and without spaces': ['data:{"data":{"n":1}}', 'event:next', ''],
  'comments and blank lines between events': [
    ':',
    '',
    '',
    ': keep-alive',
    '',
    'event: next',
    'data: {"data":{"n":1}}',
    '',
  ],
  'a comment within an event': ['event: next', ': keep-alive', 'data: {"data":{"n":1}}', ''],
  'other fields': ['id: 1', 'retry: 10', 'event: next', 'other', 'data: {"data":{"n":1}}', ''],
  'a byte order mark': ['\ufeffevent: next', 'data: {"data":{"n":1}}', ''],
  'no items': [],
}
const COMPLETE = ['event: complete', 'data:', '', '']

const CASES = Object.entries(STREAMS).flatMap(([name, lines]) =>
  LINE_ENDS.map((end) => [name, JSON.stringify(end), [...lines, ...COMPLETE].join(end)] as const),
)

test.each(CASES)('%s, with lines that end in %s, cut at every byte', async (_name, _end, text) => {
  const bytes = encoder.encode(text)
  const expected = await readByGraphqlSse([bytes])
  expect(expected.isComplete).toBe(true)
  for (let at = 0; at <= bytes.length; at += 1) {
    const pieces = [bytes.subarray(0, at), bytes.subarray(at)]
    expect(await readByTheSdk(pieces), `cut at ${at}`).toEqual(expected)
  }
  const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
  expect(await readByTheSdk(single)).toEqual(expected)
})

test.each(Object.entries(STREAMS))('%s, cut off anywhere, is not complete', async (_name, lines) => {
  const bytes = encoder.encode([...lines, ...COMPLETE].join('\n'))
  const whole = await readByTheSdk([bytes])
  for (let length = 0; length < bytes.length; length += 1) {
    const { items, isComplete } = await readByTheSdk([bytes.subarray(0, length)])
    expect(isComplete, `${length} bytes`).toBe(false)
    expect(items).toEqual(whole.items.slice(0, items.length))
  }
})

test('an item with errors throws, with the data of the other fields', async () => {
  const result = {
    data: { a: 1, b: null },
    errors: [{ message: 'No.', extensions: { code: 'forbidden', status: 403 } }],
  }
  const text = `event: next\ndata: ${JSON.stringify(result)}\n\nevent: complete\ndata:\n\n`
  const fetch = async () => new Response(text, { headers })
  const items = withGraphQL(new Trunkline({ baseURL: 'http://gateway.test', fetch })).subscribe(
    'subscription { n }',
  )
  await expect(items.next()).rejects.toMatchObject({
    name: 'PermissionDeniedError',
    reason: 'forbidden',
    cause: result,
  })
})

/** Events as lines: items, what is no item, and what is no event. */
const event = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.json().map((json) => ['event: next', 'data: {"data":', `data:${json}`, 'data: }']),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom([':'], [': keep-alive'], [''], ['id: 1'], ['retry: 10'], ['other: x']),
  },
  fc.constantFrom(
    ['event: other', 'data: {}'],
    ['event: next', 'data: {"data'],
    ['event: next'],
    ['data: {}'],
  ),
)

test('any events in any pieces are read as graphql-sse reads them', async () => {
  const events = fc.array(event, { maxLength: 6 })
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(events, fc.constantFrom(...LINE_ENDS), sizes, async (given, end, pieceSizes) => {
      // An event at a time: of a piece in which one is wrong, graphql-sse returns none.
      const whole = [...given, COMPLETE.slice(0, -2)].map((lines) =>
        encoder.encode([...lines, '', ''].join(end)),
      )
      const bytes = Buffer.concat(whole)
      const pieces: Uint8Array[] = []
      for (let at = 0; at < bytes.length; ) {
        const size = pieceSizes[pieces.length % pieceSizes.length] ?? 1
        pieces.push(bytes.subarray(at, at + size))
        at += size
      }
      expect(await readByTheSdk(pieces)).toEqual(await readByGraphqlSse(whole))
    }),
    { numRuns: 300 },
  )
})
