import { trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { expect, test } from 'vitest'
import { originReader } from './trace-parent.ts'

const TRACE = 'ab'.repeat(16)
const PARENT = 'cd'.repeat(8)
const HEADERS = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' }
const originOf = originReader(new W3CTraceContextPropagator(), ['10.0.0.0/8', '192.0.2.7', 'fd00::/8'])

test.each(['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', 'fd00::1'])(
  'a peer with the address %s is trusted, and names the parent',
  (peer) => {
    const { parent, links } = originOf({ headers: HEADERS, peer })
    expect(trace.getSpanContext(parent)).toMatchObject({ traceId: TRACE, spanId: PARENT, isRemote: true })
    expect(links).toBeUndefined()
  },
)

test.each(['11.0.0.1', '::ffff:11.0.0.1', '192.0.2.8', 'fe80::1', '', 'unix', undefined])(
  'a peer with the address %s is a stranger, whose trace is only a link',
  (peer) => {
    const { parent, links } = originOf({ headers: HEADERS, peer })
    expect(trace.getSpanContext(parent)).toBeUndefined()
    expect(links).toEqual([{ context: { traceId: TRACE, spanId: PARENT, traceFlags: 1 } }])
  },
)

test.each([
  '',
  'x',
  `00-${'0'.repeat(32)}-${PARENT}-01`,
  `ff-${TRACE}-${PARENT}-01`,
  `00-${TRACE}-${PARENT}-01-x`,
])('a traceparent of %j names nothing', (traceparent) => {
  const { parent, links } = originOf({ headers: { traceparent }, peer: '10.1.2.3' })
  expect([trace.getSpanContext(parent), links]).toEqual([undefined, undefined])
})
