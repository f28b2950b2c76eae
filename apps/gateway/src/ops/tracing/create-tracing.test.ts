import { ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CallRecord } from '#core/calls/call-events.ts'
import { identifyProcess } from '../process-identity.ts'
import { createTracing } from './create-tracing.ts'
import { OWN } from './names.ts'
import { CLIENT_GONE, type TracingSettings } from './tracing.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const CONFIG: TracingSettings = {
  url: 'http://collector.example/v1/traces',
  timeoutMs: 1_000,
  sampler: 'parentbased_always_on',
  ratio: 1,
  scheduleDelayMs: 1_000,
  exportTimeoutMs: 1_000,
  queueMax: 100,
  batchMax: 100,
  trustedProxies: ['10.0.0.1'],
}

function start(more: Partial<TracingSettings> = {}) {
  const spans: ReadableSpan[] = []
  const tracing = createTracing(
    { ...CONFIG, ...more },
    {
      identity: identifyProcess(),
      observer: { dropped: () => undefined, collectorAnswers: () => undefined },
    },
    {
      export(batch, done) {
        spans.push(...batch)
        done({ code: ExportResultCode.SUCCESS })
      },
      shutdown: async () => undefined,
    },
  )
  const request = (headers: Record<string, string> = {}) =>
    tracing.request({ method: 'POST', route: '/api/v1/chat', headers, peer: '10.0.0.1' })
  const ended = async () => {
    await vi.advanceTimersByTimeAsync(CONFIG.scheduleDelayMs)
    return spans.map(({ name }) => name)
  }
  return { tracing, request, ended, spans }
}

type RequestSpan = ReturnType<ReturnType<typeof start>['request']>

const recordOf = (span: RequestSpan, callId = 'call-1'): CallRecord => ({
  callId,
  requestId: 'request-1',
  kind: 'chat',
  face: 'rest',
  agent: 'dify',
  trace: span.forCall(),
})
const DONE = { outcome: 'done', durationMs: 1 } as const
const OK = { status: 200, error: undefined, callId: undefined }
const GONE = { status: undefined, error: CLIENT_GONE, callId: undefined }

test('the span of a request ends with its last call, if that is later than its response', async () => {
  const { tracing, request, ended, spans } = start()
  const span = request()
  const [first, second] = [recordOf(span), recordOf(span, 'call-2')]
  for (const call of [first, second]) tracing.call({ type: 'admitted', call })
  span.answered(OK)
  tracing.call({ type: 'settled', call: first, settled: DONE })
  expect(await ended()).toEqual([])
  tracing.call({ type: 'settled', call: second, settled: DONE })
  expect(await ended()).toEqual(['POST /api/v1/chat'])
  expect(spans[0]?.attributes[OWN.call]).toBe('call-1')
})

test('the span of a request does not wait for calls that were refused, of which it may be told twice', async () => {
  const { request, ended } = start()
  const span = request()
  const call = span.forCall()
  const other = span.forCall()
  span.answered(OK)
  call.refused()
  call.refused()
  expect(await ended()).toEqual([])
  other.refused()
  expect(await ended()).toHaveLength(1)
})

test('the span of a request whose client left before anything began waits for what may still become a call', async () => {
  const { tracing, request, ended } = start()
  const [without, late] = [request(), request()]
  for (const span of [without, late]) span.answered(GONE)
  await vi.advanceTimersByTimeAsync(1_000)
  const call = recordOf(late)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await ended()).toHaveLength(1)
  tracing.call({ type: 'admitted', call })
  tracing.call({ type: 'settled', call, settled: DONE })
  expect(await ended()).toHaveLength(2)
})

test.each<[TracingSettings['sampler'], number, string | undefined, boolean]>([
  ['always_on', 1, '00', true],
  ['always_off', 1, '01', false],
  ['traceidratio', 0, undefined, false],
  ['traceidratio', 1, '00', true],
  ['parentbased_always_on', 1, '00', false],
  ['parentbased_always_on', 1, undefined, true],
  ['parentbased_always_off', 1, '01', true],
  ['parentbased_always_off', 1, undefined, false],
  ['parentbased_traceidratio', 0, '01', true],
  ['parentbased_traceidratio', 0, undefined, false],
])(
  'the sampler %s with the ratio %d and the flags %s of a trusted proxy samples a request: %s',
  async (sampler, ratio, flags, isSampled) => {
    const { tracing, request, ended } = start({ sampler, ratio })
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-${flags}`
    const span = request(flags === undefined ? {} : { traceparent })
    const call = recordOf(span)
    tracing.ledgerBatch('admit', [call], 1)
    expect(span.traceId !== undefined).toBe(isSampled)
    expect(call.trace?.headers().traceparent?.slice(-2)).toBe(isSampled ? '01' : '00')
    tracing.call({ type: 'settled', call, settled: DONE })
    span.answered(OK)
    expect(await ended()).toEqual(isSampled ? ['ledger admit', 'POST /api/v1/chat'] : [])
  },
)

test('the second of two attempts has a span of its own, also if it fails before its request is sent', async () => {
  const { tracing, request, ended, spans } = start()
  const span = request()
  const call = recordOf(span)
  const of = (attempt: number, deployment: string) =>
    ({ call, attempt, deployment, platform: 'dify' }) as const
  const end = { startMs: 0, durationMs: 1, outcome: 'upstream_error', reason: 'agent_error' } as const
  const failed = {
    turn: 'none',
    isComplete: false,
    failure: { reason: 'agent_error' },
    exchange: undefined,
  } as const
  tracing.call({ type: 'admitted', call })
  tracing.call({ type: 'attempt_started', ...of(1, 'eu'), conversation: 'key', queuedMs: 12.3, ownMs: 1 })
  tracing.call({ type: 'attempt_ended', ...of(1, 'eu'), ...failed, end: { ...end, deployment: 'eu' } })
  tracing.call({ type: 'attempt_ended', ...of(2, 'us'), ...failed, end: { ...end, deployment: 'us' } })
  tracing.call({
    type: 'settled',
    call,
    settled: { ...DONE, outcome: 'upstream_error', failure: failed.failure },
  })
  span.answered(OK)
  expect(await ended()).toEqual(['invoke_agent dify', 'invoke_agent dify', 'POST /api/v1/chat'])
  expect(spans.map(({ attributes }) => attributes[OWN.deployment])).toEqual(['eu', 'us', undefined])
  expect(spans[0]?.events).toMatchObject([{ name: 'queued', attributes: { [OWN.queuedMs]: 12 } }])
  for (const { attributes } of spans) expect(attributes['error.type']).toBe('agent_error')
})
