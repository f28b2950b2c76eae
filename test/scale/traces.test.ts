import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFullKey } from '../support/files-in-chats.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { type CollectedSpan, startTraceCollector, type TraceCollector } from '../support/trace-collector.ts'
import { SECRETS, STRANGE_TRACE, tracedCalls, tracedRefusals } from '../support/traced-calls.ts'

// A process, because the spans and log lines of a run are compared with its ledger, after it has flushed and stopped.

const CALLS = process.env.SOAK ? 1_000 : 156

const [INTERNAL, SERVER, CLIENT] = [1, 2, 3]

/** The names that docs/tracing.md has. */
const ATTRIBUTES = [
  'http.request.method',
  'http.route',
  'http.response.status_code',
  'error.type',
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.agent.id',
  'gen_ai.conversation.id',
  'gen_ai.response.model',
  'gen_ai.response.finish_reasons',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'db.operation.batch.size',
  'trunkline.call_id',
  'trunkline.deployment',
  'trunkline.attempt',
  'trunkline.outcome',
  'trunkline.storage',
  'trunkline.upload.bytes',
]
const EVENTS = ['queued', 'first_chunk']

interface CallRow {
  readonly id: string
  readonly kind: string
  readonly agent: string
  readonly outcome: string
  readonly reason: string | null
  readonly attempts: number | null
  readonly deployment: string | null
  readonly trace_id: string | null
  readonly request_id: string
}

let collector: TraceCollector
let system: GatewayWithSandbox
let key: string
let calls: readonly CallRow[]
const byTrace = new Map<string, CollectedSpan[]>()

beforeAll(async () => {
  collector = await startTraceCollector()
  const plenty = { points: 100_000 }
  system = await startGatewayWithSandbox({
    settings: { limits: { chat: plenty, upload: plenty } },
    entry: { breaker: false },
    async agents(entries, { startSecond }) {
      const down = await startSecond('openai')
      await down.control.fail('refuse')
      const deployments = [
        { id: 'main', baseUrl: down.baseUrl },
        { id: 'up', priority: 1 },
      ]
      return { twice: { ...entries.openai, deployments } }
    },
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
  })
  key = await createFullKey(system)
  await tracedRefusals({ ...system, key })
  await tracedCalls({ ...system, key }, CALLS)
  // What is traced is sent before the process ends, and only then may the test read an embedded database.
  expect(await system.gateway.stop()).toBe(0)
  calls = await system.gateway.query<CallRow>('SELECT * FROM calls ORDER BY id')
  for (const span of collector.spans) {
    const spans = byTrace.get(span.traceId) ?? []
    byTrace.set(span.traceId, [...spans, span])
  }
}, 600_000)
afterAll(async () => {
  await system?.remove()
  await collector?.close()
})

const spansOf = ({ trace_id }: CallRow) => byTrace.get(trace_id ?? '') ?? []

test('the calls of this run have come in every way, and have ended in many', () => {
  expect(new Set(calls.map(({ kind }) => kind))).toEqual(new Set(['chat', 'upload']))
  const outcomes = new Set(calls.map(({ outcome }) => outcome))
  for (const outcome of ['done', 'upstream_error', 'client_gone']) expect(outcomes).toContain(outcome)
  expect(calls.filter(({ attempts }) => attempts === 2).length).toBeGreaterThan(0)
  expect(calls.length).toBeGreaterThan(0.9 * CALLS)
})

test('each call is one tree: the span of its request, and one below it for each attempt or stored file', () => {
  expect(new Set(calls.map(({ trace_id }) => trace_id)).size).toBe(calls.length)
  for (const call of calls) {
    const spans = spansOf(call)
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined)
    expect(
      roots.map(({ kind }) => kind),
      JSON.stringify(call),
    ).toEqual([SERVER])
    const [root] = roots
    expect(root?.attributes).toMatchObject({ 'trunkline.call_id': call.id })
    const children = spans.filter((span) => span !== root)
    expect(children.every(({ parentSpanId }) => parentSpanId === root?.spanId)).toBe(true)
    if (call.kind === 'upload') {
      expect(children).toMatchObject([
        { name: 'store file', kind: INTERNAL, attributes: { 'trunkline.call_id': call.id } },
      ])
      continue
    }
    expect(children, JSON.stringify(call)).toHaveLength(call.attempts ?? 0)
    const attempts = children.sort((a, b) => Number(a.start - b.start))
    expect(attempts.map(({ attributes }) => attributes['trunkline.attempt'])).toEqual(
      attempts.map((_, index) => index + 1),
    )
    for (const { name, kind, attributes } of attempts) {
      expect([name, kind]).toEqual([`invoke_agent ${call.agent}`, CLIENT])
      expect(attributes).toMatchObject({
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': call.agent === 'twice' ? 'openai' : call.agent,
        'gen_ai.agent.id': call.agent,
        'gen_ai.conversation.id': expect.stringMatching(/^[0-9a-f]{64}$/),
        'trunkline.call_id': call.id,
      })
    }
    const last = attempts.at(-1)
    expect(last?.attributes['trunkline.deployment'] ?? null).toBe(call.deployment)
    expect(last?.attributes['trunkline.outcome']).toBe(call.attempts === null ? undefined : call.outcome)
    expect(last?.attributes['error.type'] ?? null).toBe(call.reason)
  }
})

test('no span outlives its parent, and the first chunk comes before the end', () => {
  let chunks = 0
  for (const spans of byTrace.values()) {
    const known = new Map(spans.map((span) => [span.spanId, span]))
    for (const span of spans) {
      expect(span.end >= span.start).toBe(true)
      for (const { name, at } of span.events) {
        expect(at >= span.start && at <= span.end).toBe(true)
        if (name === 'first_chunk') chunks += 1
      }
      const parent = span.parentSpanId === undefined ? undefined : known.get(span.parentSpanId)
      if (span.parentSpanId !== undefined) expect(parent, span.name).toBeDefined()
      if (parent !== undefined)
        expect([span.start >= parent.start, span.end <= parent.end]).toEqual([true, true])
    }
  }
  expect(chunks).toBeGreaterThan(CALLS / 4)
})

test('the batches of the ledger are linked to their calls', () => {
  for (const statement of ['admit', 'settle']) {
    const batches = collector.spans.filter(({ name }) => name === `ledger ${statement}`)
    const linked = batches.flatMap(({ links }) => links.map(({ traceId }) => traceId))
    expect(linked.sort()).toEqual(calls.map(({ trace_id }) => trace_id).sort())
    for (const { attributes, links } of batches)
      expect(Number(attributes['db.operation.batch.size'])).toBeGreaterThanOrEqual(links.length)
  }
})

test('the trace that a stranger names is only a link', () => {
  expect(byTrace.has(STRANGE_TRACE)).toBe(false)
  const links = collector.spans.filter(({ kind }) => kind === SERVER).flatMap((span) => span.links)
  expect(links.length).toBeGreaterThan(CALLS / 4)
  expect(new Set(links.map(({ traceId }) => traceId))).toEqual(new Set([STRANGE_TRACE]))
})

test('the names in traces are those of the list, of routes and of the configuration', () => {
  const unknown = collector.spans.flatMap((span) => [
    ...Object.keys(span.attributes).filter((name) => !ATTRIBUTES.includes(name)),
    ...span.events.map(({ name }) => name).filter((name) => !EVENTS.includes(name)),
  ])
  expect(unknown).toEqual([])
  const names = new Set(collector.spans.map(({ name }) => name))
  const expected =
    /^(?:(?:GET|POST|PUT|DELETE)(?: \/(?:api\/v1|graphql)[\w/:.-]*)?|invoke_agent [\w-]+|store file|ledger (?:admit|settle))$/
  expect([...names].filter((name) => !expected.test(name))).toEqual([])
  expect(collector.resource).toMatchObject({
    'service.name': 'trunkline',
    'service.version': expect.any(String),
    'service.instance.id': expect.any(String),
    'deployment.environment.name': 'test',
  })
})

describe('nothing of a request or of the configuration is in a trace', () => {
  const sent = () => collector.bodies.join('\n')

  test.each(Object.entries(SECRETS))('%s', (_name, secret) => expect(sent()).not.toContain(secret))

  test('keys, tokens, passwords and conversations', () => {
    const agents = Object.values(system.sandbox.agents).flatMap(({ apiKey, baseUrl }) => [apiKey, baseUrl])
    const { admin } = system.gateway
    for (const secret of [key, key.slice(0, 16), system.key, system.token, admin.password, ...agents])
      expect(sent()).not.toContain(secret)
  })
})

test('each log line of a traced request has its trace, and each that names a call that of the call', () => {
  const lines = system.gateway.stdout
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []))
  const traceOf = new Map(calls.map(({ id, trace_id }) => [id, trace_id]))
  const messages = new Set<unknown>()
  for (const line of lines) {
    const isTraced = line.msg !== 'request' || /^\/(?:api\/|graphql)/.test(String(line.route))
    if (line.reqId === undefined || !isTraced || line.route === 'unknown') continue
    messages.add(line.msg)
    expect(line.trace_id, JSON.stringify(line)).toMatch(/^[0-9a-f]{32}$/)
    const ofCall = traceOf.get(String(line.call))
    // A request that is answered from an earlier call has a trace of its own.
    if (ofCall !== undefined && line.msg !== 'request') expect(line.trace_id).toBe(ofCall)
  }
  for (const message of ['request', 'operation', 'call failed', 'attempt failed'])
    expect(messages).toContain(message)
})
