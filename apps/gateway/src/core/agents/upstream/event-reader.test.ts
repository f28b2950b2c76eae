import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { UpstreamEvent } from '#core/agents/adapter.ts'
import { EventReader } from './event-reader.ts'

function reader({ charactersMax = 1_000 } = {}) {
  const events: UpstreamEvent[] = []
  return { events, reader: new EventReader(charactersMax, (event) => events.push(event)) }
}

function read(bytes: Buffer, cuts: readonly number[]): UpstreamEvent[] {
  const { events, reader: parser } = reader()
  let from = 0
  for (const to of [...new Set(cuts)].sort((a, b) => a - b)) {
    parser.feed(bytes.subarray(from, to))
    from = to
  }
  parser.feed(bytes.subarray(from))
  parser.end()
  return events
}

test('the chunk boundaries do not change the events', () => {
  const bytes = Buffer.from(
    '\ufeffevent: 节点\r\ndata: 👋 a\r\ndata: b\r\n\r\n: ping\n\ndata: c\rid: 1\r\rdata: é',
  )
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
      expect(read(bytes, cuts).map(({ event, data }) => ({ event, data }))).toEqual([
        { event: '节点', data: '👋 a\nb' },
        { event: undefined, data: 'c' },
        { event: undefined, data: 'é' },
      ])
    }),
  )
})

test.each([
  ['as a field of its own', 'error: {"code":400}', '{"code":400}'],
  ['as a bare line', '{"error": {"code":400}}', '{"error": {"code":400}}'],
])('an error that a server writes %s is an event, wherever it is cut', (_form, line, data) => {
  const bytes = Buffer.from(`data: a\n\n${line}\n\ndata: [DONE]\n\n`)
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    expect(read(bytes, [cut])).toEqual([
      { event: undefined, data: 'a' },
      { event: 'error', data },
      { event: undefined, data: '[DONE]' },
    ])
  }
})

test('other fields that are unknown are no events', () => {
  expect(read(Buffer.from('message:\n{"a":1}\ndata: a\n\n'), [])).toEqual([{ event: undefined, data: 'a' }])
})

test('an incomplete event is buffered only up to the cap', () => {
  const { reader: parser, events } = reader({ charactersMax: 100 })
  expect(parser.feed(Buffer.from(`data: ${'x'.repeat(94)}`))).toBe(true)
  expect(parser.feed(Buffer.from('x'))).toBe(false)
  expect(parser.feed(Buffer.from('\n\n'))).toBe(false)
  parser.end()
  expect(events).toEqual([])
})

test('completed events and comments do not count towards the cap', () => {
  const { reader: parser, events } = reader({ charactersMax: 100 })
  for (let round = 0; round < 50; round += 1) {
    expect(parser.feed(Buffer.from(`data: ${'x'.repeat(60)}\n\n`))).toBe(true)
    expect(parser.feed(Buffer.from(`:${'x'.repeat(60)}\n`))).toBe(true)
  }
  expect(events).toHaveLength(50)
})

test('a long line that may be an error is read once, however many pieces it comes in', () => {
  const { reader: parser, events } = reader({ charactersMax: 1_000_000 })
  const piece = Buffer.from('x')
  parser.feed(Buffer.from('{"error": "'))
  for (let count = 0; count < 500_000; count += 1) parser.feed(piece)
  parser.feed(Buffer.from('"}\n'))
  parser.end()
  expect(events).toEqual([{ event: 'error', data: `{"error": "${'x'.repeat(500_000)}"}` }])
})
