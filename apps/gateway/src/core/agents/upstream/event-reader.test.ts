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
      expect(read(bytes, cuts)).toEqual([
        { event: '节点', data: '👋 a\nb' },
        { event: undefined, data: 'c' },
        { event: undefined, data: 'é' },
      ])
    }),
  )
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
