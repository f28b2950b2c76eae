import { EventEmitter } from 'node:events'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CallEvent, CallRecord } from '#core/calls/call-events.ts'
import type { RequestTrace } from '#core/requests/request-trace.ts'
import { identifyProcess } from '../process-identity.ts'
import { createTracing, type TracingSettings } from './create-tracing.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const DELAY_MS = 1_000
const SETTINGS: TracingSettings = {
  sampler: 'parentbased_always_on',
  ratio: 1,
  queue: { scheduledDelayMillis: DELAY_MS, maxQueueSize: 10, maxExportBatchSize: 10 },
  trustedProxies: ['10.0.0.0/8', 'fd00::/8'],
}
const TRACE = 'ab'.repeat(16)
const PARENT = 'cd'.repeat(8)

type Batch = { readonly spans: readonly ReadableSpan[]; readonly done: (result: ExportResult) => void }

/** Tracing whose collector takes each batch at once, unless it is `held` until the test answers. */
function start(more: Partial<TracingSettings> = {}, isHeld = false) {
  const batches: Batch[] = []
  const dropped = vi.fn<(spans: number) => void>()
  const sent = vi.fn()
  const tracing = createTracing(
    { ...SETTINGS, ...more },
    { identity: identifyProcess(), dropped, sent },
    {
      export(spans, done) {
        batches.push({ spans, done })
        if (!isHeld) done({ code: ExportResultCode.SUCCESS })
      },
      shutdown: async () => undefined,
    },
  )
  function request(headers: Record<string, string> = {}, peer: string | undefined = '10.0.0.1') {
    const url = '/api/v1/chat'
    const raw = Object.assign(new EventEmitter(), {
      headersSent: true,
      statusCode: 200,
      writableFinished: true,
    })
    const of = { url, method: 'POST', headers, socket: { remoteAddress: peer }, routeOptions: { url } }
    const request = of as unknown as FastifyRequest
    tracing.onRequest(request, { raw } as unknown as FastifyReply, () => undefined)
    return {
      trace: request.trace as RequestTrace,
      raw,
      answered: () => raw.emit('close'),
      clientLeft: () => Object.assign(raw, { headersSent: false, writableFinished: false }).emit('close'),
    }
  }
  const ended = async () => {
    await vi.advanceTimersByTimeAsync(DELAY_MS)
    return batches.flatMap(({ spans }) => spans.map(({ name }) => name))
  }
  const droppedSpans = () => dropped.mock.calls.reduce((sum, [spans]) => sum + spans, 0)
  const spans = () => batches.flatMap((batch) => batch.spans)
  return { tracing, request, ended, spans, batches, droppedSpans, sent }
}

const recordOf = (trace: RequestTrace, callId = 'call-1'): CallRecord => ({
  callId,
  requestId: 'request-1',
  kind: 'chat',
  face: 'rest',
  agent: 'dify',
  trace,
})
const DONE = { outcome: 'done', durationMs: 1 } as const

function attemptOf(call: CallRecord, attempt: number, deployment: string) {
  const of = { call, attempt, deployment, platform: 'dify' } as const
  return {
    started: { type: 'attempt_started', ...of, conversation: 'key', queuedMs: 12.3, ownMs: 1 },
    ended(more: { reason?: 'agent_error' } = {}): CallEvent {
      const { reason } = more
      return {
        type: 'attempt_ended',
        ...of,
        end: { deployment, startMs: 0, durationMs: 1, outcome: reason ? 'upstream_error' : 'done' },
        turn: 'none',
        isComplete: reason === undefined,
        failure: reason && { reason },
        exchange: reason
          ? undefined
          : {
              requestedModel: undefined,
              model: 'a model',
              durationMs: 1,
              firstTextMs: 1,
              finishReason: 'stop',
              usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
            },
      }
    },
  } satisfies { started: CallEvent; ended: unknown }
}

test('the span of a request ends with its last call, if that is later than its response', async () => {
  const { tracing, request, ended, spans } = start()
  const { trace, answered } = request()
  const [first, second] = [recordOf(trace), recordOf(trace, 'call-2')]
  for (const call of [first, second]) tracing.call({ type: 'admitted', call })
  answered()
  tracing.call({ type: 'settled', call: first, settled: DONE })
  expect(await ended()).toEqual([])
  tracing.call({ type: 'settled', call: second, settled: DONE })
  expect(await ended()).toEqual(['POST /api/v1/chat'])
  expect(spans()[0]?.attributes['trunkline.call_id']).toBe('call-1')
})

test('the span of a request whose client left before anything began waits for what may still become a call', async () => {
  const { tracing, request, ended } = start()
  const [without, late] = [request(), request()]
  for (const { clientLeft } of [without, late]) clientLeft()
  const call = recordOf(late.trace)
  await vi.advanceTimersByTimeAsync(10_000)
  tracing.call({ type: 'admitted', call })
  expect(await ended()).toEqual([])
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await ended()).toHaveLength(1)
  tracing.call({ type: 'settled', call, settled: DONE })
  expect(await ended()).toHaveLength(2)
})

test.each<[TracingSettings['sampler'], number, string | undefined, boolean]>([
  ['always_on', 1, '00', true],
  ['always_off', 1, '01', false],
  ['traceidratio', 0, undefined, false],
  ['traceidratio', 1, '00', true],
  ['parentbased_always_on', 0, '00', false],
  ['parentbased_always_on', 0, undefined, true],
  ['parentbased_always_off', 1, '01', true],
  ['parentbased_always_off', 1, undefined, false],
  ['parentbased_traceidratio', 0, '01', true],
  ['parentbased_traceidratio', 0, undefined, false],
])(
  'the sampler %s with the ratio %d and the flags %s of a trusted proxy samples a request: %s',
  async (sampler, ratio, flags, isSampled) => {
    const { tracing, request, ended } = start({ sampler, ratio })
    const traceparent = `00-${TRACE}-${PARENT}-${flags}`
    const { trace, raw, answered } = request(flags === undefined ? {} : { traceparent })
    const call = recordOf(trace)
    tracing.call({ type: 'admitted', call })
    tracing.ledgerBatch('admit', [call], 1)
    expect(trace.traceId !== undefined).toBe(isSampled)
    expect(trace.headers(call.callId).traceparent?.slice(-2)).toBe(isSampled ? '01' : '00')
    expect(raw.listenerCount('close'), 'nothing follows what is not sampled').toBe(isSampled ? 1 : 0)
    tracing.call({ type: 'settled', call, settled: DONE })
    answered()
    expect(await ended()).toEqual(isSampled ? ['ledger admit', 'POST /api/v1/chat'] : [])
  },
)

const HEADERS = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' }

test.each(['10.1.2.3', '::ffff:10.1.2.3', 'fd00::1'])(
  'a peer with the address %s is trusted, and names the parent, whose state is passed on',
  async (peer) => {
    const { request, ended, spans } = start()
    const { trace, answered } = request(HEADERS, peer)
    answered()
    await ended()
    const [span] = spans()
    expect(trace.traceId).toBe(TRACE)
    expect([span?.parentSpanContext?.spanId, span?.links]).toEqual([PARENT, []])
    expect(trace.headers('call-1')).toEqual({
      traceparent: `00-${TRACE}-${span?.spanContext().spanId}-01`,
      tracestate: 'vendor=1',
    })
  },
)

test.each(['11.0.0.1', 'fe80::1', 'unix', ''])(
  'a peer with the address %j is a stranger, whose trace is only a link, without its state',
  async (peer) => {
    const { request, ended, spans } = start()
    const { trace, answered } = request(HEADERS, peer)
    answered()
    await ended()
    const [span] = spans()
    expect(trace.traceId).not.toBe(TRACE)
    expect(span?.parentSpanContext).toBeUndefined()
    expect(span?.links).toMatchObject([{ context: { traceId: TRACE, spanId: PARENT, traceFlags: 1 } }])
    expect(span?.links[0]?.context.traceState).toBeUndefined()
    expect(trace.headers('call-1').tracestate).toBeUndefined()
  },
)

test('the second of two attempts has a span of its own, also if it fails before its request is sent', async () => {
  const { tracing, request, ended, spans } = start()
  const { trace, answered } = request()
  const call = recordOf(trace)
  const [first, second] = [attemptOf(call, 1, 'eu'), attemptOf(call, 2, 'us')]
  tracing.call({ type: 'admitted', call })
  tracing.call(first.started)
  const told = trace.headers(call.callId).traceparent
  tracing.call(first.ended({ reason: 'agent_error' }))
  tracing.call(second.ended({ reason: 'agent_error' }))
  const failure = { reason: 'agent_error' } as const
  tracing.call({ type: 'settled', call, settled: { ...DONE, outcome: 'upstream_error', failure } })
  answered()
  expect(await ended()).toEqual(['invoke_agent dify', 'invoke_agent dify', 'POST /api/v1/chat'])
  expect(spans().map(({ attributes }) => attributes['trunkline.deployment'])).toEqual(['eu', 'us', undefined])
  expect(told).toContain(spans()[0]?.spanContext().spanId)
  expect(spans()[0]?.events).toMatchObject([{ name: 'queued', attributes: { 'trunkline.queued_ms': 12 } }])
  for (const { attributes } of spans()) expect(attributes['error.type']).toBe('agent_error')
})

test('the names of attributes are those of the semantic conventions, or have our prefix', async () => {
  const { tracing, request, ended, spans } = start()
  const { trace, answered } = request()
  const call = recordOf(trace)
  const attempt = attemptOf(call, 1, 'eu')
  tracing.call({ type: 'admitted', call })
  tracing.call(attempt.started)
  tracing.call(attempt.ended())
  tracing.call({ type: 'storing_started', call, storage: 'disk' })
  tracing.call({ type: 'storing_ended', call, bytes: 1, isStored: false })
  tracing.call({ type: 'settled', call, settled: DONE })
  tracing.ledgerBatch('settle', [call], 1, 'timeout')
  answered()
  await ended()
  const known = new Set<unknown>(
    Object.entries(conventions).flatMap(([name, value]) => (name.startsWith('ATTR_') ? [value] : [])),
  )
  const names = spans().flatMap(({ attributes, events, resource }) => [
    ...Object.keys(attributes),
    ...events.flatMap((event) => Object.keys(event.attributes ?? {})),
    ...Object.keys(resource.attributes),
  ])
  expect(new Set(names).size).toBe(23)
  expect(names.filter((name) => !known.has(name) && !/^trunkline\.[a-z_.]+$/.test(name))).toEqual([])
  const [ofAttempt] = spans()
  expect(ofAttempt?.attributes['gen_ai.operation.name']).toBe(
    conventions.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
  )
})

test('what finds no room beside the batch that is being sent is dropped and counted', () => {
  const { request, batches, droppedSpans } = start({}, true)
  for (let count = 0; count < 100; count += 1) request().answered()
  expect(batches).toHaveLength(1)
  expect(droppedSpans()).toBe(100 - 10 - 10)
})

test('what the collector does not take is dropped and counted, and its error is passed on', async () => {
  const { request, ended, batches, droppedSpans, sent } = start({}, true)
  const error = new Error('refused')
  for (let count = 0; count < 7; count += 1) request().answered()
  await ended()
  batches[0]?.done({ code: ExportResultCode.FAILED, error })
  expect([droppedSpans(), sent.mock.lastCall]).toEqual([7, [false, error]])
  await vi.advanceTimersByTimeAsync(0)
  request().answered()
  await ended()
  batches[1]?.done({ code: ExportResultCode.SUCCESS })
  expect([droppedSpans(), sent.mock.lastCall]).toEqual([7, [true, undefined]])
})

test('at the end what waits is sent, for at most so long', async () => {
  const { tracing, request, batches } = start({}, true)
  request().answered()
  const closed = tracing.close(2_000)
  await vi.advanceTimersByTimeAsync(0)
  expect(batches).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(2_000)
  await closed
})
