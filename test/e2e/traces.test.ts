import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { type GatewayOptions, startGateway, type TestGateway } from '../support/gateway.ts'
import { type ScriptedPlatform, sse, startScriptedPlatform } from '../support/scripted-platform.ts'
import { startTraceCollector, type TraceCollector } from '../support/trace-collector.ts'

// A process, because traces are configured by the environment, sent to a collector and flushed by the stop.

const TRACE = 'ab'.repeat(16)
const PARENT = 'cd'.repeat(8)
const traceparent = (flags: '00' | '01') => `00-${TRACE}-${PARENT}-${flags}`

let platform: ScriptedPlatform
/** What the platform was sent of traces, the latest last. */
const propagated: { traceparent: unknown; tracestate: unknown }[] = []
const closers: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  platform = await startScriptedPlatform((_path, _body, response) => {
    const { traceparent, tracestate } = response.req.headers
    propagated.push({ traceparent, tracestate })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const delta = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }
    response.end(sse(delta, '[DONE]'))
  })
})
afterEach(async () => {
  propagated.length = 0
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(() => platform.close())

interface Traced {
  readonly gateway: TestGateway
  readonly api: Api
  ask(headers?: Record<string, string>, agent?: string): Promise<number>
}

/** A gateway in front of the platform, whose agent `told` gets the trace context. */
async function start(env: GatewayOptions['env'], settings: object = {}): Promise<Traced> {
  const entry = { platform: 'openai', baseUrl: `${platform.origin}/v1`, apiKey: 'none', model: 'm' }
  const agents = { told: { ...entry, propagate: true }, plain: entry }
  const gateway = await startGateway({
    config: JSON.stringify({ agents, limits: { chat: { points: 100_000 } }, ...settings }),
    ...(env !== undefined && { env: { OTEL_BSP_SCHEDULE_DELAY: '50', ...env } }),
  })
  closers.push(() => gateway.remove())
  const api = apiOf(gateway)
  const { full_key: key } = await api.createKey(await api.login())
  return {
    gateway,
    api,
    async ask(headers = {}, agent = 'told') {
      const response = await api.chat(key, agent, {}, { headers })
      await response.text()
      return response.status
    },
  }
}

async function collect(): Promise<TraceCollector> {
  const collector = await startTraceCollector()
  closers.push(() => collector.close())
  return collector
}

/** The spans of the calls; those of the administrator's requests are left out. */
const chatsIn = ({ spans }: TraceCollector) => spans.filter(({ name }) => name === 'POST /api/v1/chat')
const attemptsIn = ({ spans }: TraceCollector) => spans.filter(({ name }) => name.startsWith('invoke_agent'))

test('a trusted proxy names the parent, which is passed on to an agent that propagates, and to no other', async () => {
  const collector = await collect()
  const { gateway, ask } = await start(
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` },
    { trustedProxies: ['127.0.0.0/8', '::1'] },
  )
  const headers = { traceparent: traceparent('01'), tracestate: 'vendor=1' }
  expect(await ask(headers)).toBe(200)
  expect(await ask(headers, 'plain')).toBe(200)
  await gateway.stop()

  const chats = chatsIn(collector)
  expect(chats).toHaveLength(2)
  for (const span of chats) expect(span).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, links: [] })
  const told = attemptsIn(collector).find(({ name }) => name === 'invoke_agent told')
  expect(propagated).toEqual([
    { traceparent: `00-${TRACE}-${told?.spanId}-01`, tracestate: 'vendor=1' },
    { traceparent: undefined, tracestate: undefined },
  ])
})

test('a stranger names no parent, and what it names is not passed on', async () => {
  const collector = await collect()
  const { gateway, ask } = await start(
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    { trustedProxies: ['10.0.0.0/8'] },
  )
  const bad = ['', 'x', `00-${'0'.repeat(32)}-${PARENT}-01`, `ff-${TRACE}-${PARENT}-01`, 'a'.repeat(5_000)]
  expect(
    await ask({ traceparent: traceparent('00'), tracestate: 'vendor=1', 'x-forwarded-for': '10.1.1.1' }),
  ).toBe(200)
  for (const header of bad) expect(await ask({ traceparent: header })).toBe(200)
  await gateway.stop()

  const chats = chatsIn(collector)
  expect(chats).toHaveLength(1 + bad.length)
  expect(
    chats.filter(({ traceId, parentSpanId }) => traceId === TRACE || parentSpanId !== undefined),
  ).toEqual([])
  expect(chats.map(({ links }) => links.map(({ traceId, spanId }) => [traceId, spanId]))).toEqual([
    [[TRACE, PARENT]],
    ...bad.map(() => []),
  ])
  for (const { traceparent: sent, tracestate } of propagated) {
    expect(sent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    expect(sent).not.toContain(TRACE)
    expect(tracestate).toBeUndefined()
  }
})

test('the sampler decides for all that no trusted proxy has decided, and what is not sampled has no trace', async () => {
  const collector = await collect()
  const { gateway, ask } = await start(
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
    { trustedProxies: ['127.0.0.0/8', '::1'] },
  )
  expect(await ask()).toBe(200)
  expect(await ask({ traceparent: traceparent('00') })).toBe(200)
  expect(await ask({ traceparent: traceparent('01') })).toBe(200)
  await gateway.stop()

  const [sampled] = attemptsIn(collector)
  expect(chatsIn(collector)).toHaveLength(1)
  expect(
    collector.spans.filter(({ name }) => name.startsWith('ledger')).map(({ links }) => links.length),
  ).toEqual([1, 1])
  // The decision is passed on, so that the platform does not decide anew.
  expect(propagated.map(({ traceparent: sent }) => String(sent).slice(-3))).toEqual(['-00', '-00', '-01'])
  expect(sampled?.traceId).toBe(TRACE)
  const rows = await gateway.query<{ trace_id: string | null }>('SELECT trace_id FROM calls ORDER BY id')
  expect(rows.map(({ trace_id }) => trace_id)).toEqual([null, null, TRACE])
  const lines = gateway.stdout.split('\n').filter((line) => line.includes('"route":"/api/v1/chat"'))
  expect(lines.map((line) => JSON.parse(line).trace_id)).toEqual([undefined, undefined, TRACE])
})

test('a collector that never answers delays neither calls nor the stop, and what it does not get is counted', async () => {
  const collector = await startTraceCollector(false)
  closers.push(() => collector.close())
  const { gateway, api, ask } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_MAX_QUEUE_SIZE: '4',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
  })
  for (let call = 0; call < 20; call += 1) expect(await ask()).toBe(200)
  expect(collector.requests).toBe(1)
  const { body } = await api.call('GET', '/metrics')
  // Two are being sent, and four wait.
  expect(Number(/^trunkline_spans_dropped_total (\d+)$/m.exec(body)?.[1])).toBeGreaterThan(40)
  expect(await gateway.stop()).toBe(0)
})

test('a collector that cannot be reached, or breaks every connection, harms nothing', async () => {
  const breaking = createServer((socket) => socket.destroy())
  await once(breaking.listen(0, '127.0.0.1'), 'listening')
  const { port } = breaking.address() as AddressInfo
  const { gateway, ask } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_TIMEOUT: '100',
  })
  for (let call = 0; call < 5; call += 1) expect(await ask()).toBe(200)
  expect(await gateway.prints(/the collector does not take traces/)).toBeDefined()
  breaking.close()
  for (let call = 0; call < 5; call += 1) expect(await ask()).toBe(200)
  expect(await gateway.stop()).toBe(0)
  expect(gateway.output).not.toContain('unhandled')
})

test('without a collector nothing is traced and nothing is passed on', async () => {
  const { gateway, ask } = await start({ OTEL_TRACES_SAMPLER: 'of another program' })
  expect(await ask({ traceparent: traceparent('01') })).toBe(200)
  expect(propagated).toEqual([{ traceparent: undefined, tracestate: undefined }])
  await gateway.stop()
  expect(gateway.output).not.toContain('trace_id')
  expect(await gateway.query('SELECT trace_id FROM calls')).toEqual([{ trace_id: null }])
})

test('the gateway does not start with a setting of traces that it does not understand, and names it', async () => {
  const started = start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_TRACES_SAMPLER: 'xray' })
  await expect(started).rejects.toThrow(/OTEL_TRACES_SAMPLER: expected one of always_on/)
})
