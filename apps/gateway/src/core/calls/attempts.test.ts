import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Agent, HelperCall, UpstreamRequest } from '#core/agents/adapter.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import { callOf } from '#core/agents/transcripts.test-support.ts'
import { CONFIGURED_CARDS } from '#core/agents/upstream/configured-cards.test-support.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from '#core/agents/upstream/upstream-reply.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { ATTEMPTS_LISTED_MAX } from './call-events.ts'
import { startReply, turnOf } from './reply.test-support.ts'
import { agentWith } from './routing/routes.test-support.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** What one request gets: nothing, an error before or after it was written, or parts of a reply. */
type Answer = 'hang' | 'refused' | 'reset' | readonly UpstreamPart[]

const text = (answer: string): UpstreamPart => ({
  kind: 'events',
  events: [{ event: undefined, data: JSON.stringify({ event: 'message', task_id: 't', answer }) }],
})
const DELTA: UpstreamPart = {
  kind: 'events',
  events: [{ event: undefined, data: JSON.stringify({ model: 'm', choices: [] }) }],
}
const END: UpstreamPart = {
  kind: 'events',
  events: [{ event: undefined, data: JSON.stringify({ event: 'message_end', task_id: 't' }) }],
}
const completion = (content: string): UpstreamPart => ({
  kind: 'body',
  status: 200,
  body: { choices: [{ message: { content }, finish_reason: 'stop' }] },
  header: () => undefined,
})
const refusal = (status: number, body: object): UpstreamPart => ({
  kind: 'body',
  status,
  body,
  header: () => undefined,
})

const TOO_MANY =
  'Too many requests. Please try again later. The current maximum concurrent requests allowed for x is 1.'

/** Platforms that answer request by request. */
class Platforms implements Upstream {
  readonly cards = CONFIGURED_CARDS
  readonly requests: UpstreamRequest[] = []
  readonly #answers: Answer[]

  constructor(answers: readonly Answer[]) {
    this.#answers = [...answers]
  }

  open(_agent: Agent, request: UpstreamRequest): UpstreamReply {
    this.requests.push(request)
    return new Answered(this.#answers.shift() ?? 'hang')
  }

  async help<Result>(_agent: Agent, call: HelperCall<Result>) {
    return call.read(200, {}, () => undefined) as ReturnType<HelperCall<Result>['read']>
  }

  async close(): Promise<void> {}
}

class Answered implements UpstreamReply {
  readonly wasBegun: boolean
  readonly #parts: UpstreamPart[]
  readonly #ended = Promise.withResolvers<never>()
  #status: number | undefined

  constructor(answer: Answer) {
    this.wasBegun = answer !== 'refused'
    this.#parts = typeof answer === 'string' ? [] : [...answer]
    this.#ended.promise.catch(() => undefined)
    if (answer === 'refused') this.cancel(UpstreamError.of(new Error('ECONNREFUSED'), false))
    if (answer === 'reset') this.cancel(UpstreamError.of(new Error('ECONNRESET'), true))
    if (typeof answer !== 'string') this.#parts.push({ kind: 'end' })
  }

  get status(): number | undefined {
    return this.#status
  }

  next(): Promise<UpstreamPart> {
    const part = this.#parts.shift()
    if (part === undefined) return this.#ended.promise
    this.#status = part.kind === 'body' ? part.status : 200
    return Promise.resolve(part)
  }

  interrupt(cause: Error): void {
    this.cancel(cause)
  }

  finish(): void {}

  cancel(cause: Error): void {
    this.#ended.reject(cause)
  }
}

const timeouts = { connectMs: 1_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 30_000 }
const TWO = [
  { id: 'main', agent: { timeouts } },
  { id: 'us', agent: { timeouts } },
]

function start(answers: readonly Answer[], platform: 'dify' | 'openai' = 'dify', attempts = 2) {
  const platforms = new Platforms(answers)
  const failed = vi.fn(async () => undefined)
  const agent = agentWith(TWO, { id: platform, timeouts, retry: { attempts, firstByteMs: undefined } })
  const started = startReply({ agent, upstream: platforms })
  const events: ChatEvent[] = []
  const reading = started.reply
    .read((batch) => {
      events.push(...batch)
      return undefined
    })
    .then(
      () => undefined,
      (error: unknown) => (error instanceof Problem ? error.reason : error),
    )
  const textOf = () => events.map((event) => (event.type === 'text' ? event.text : '')).join('')
  return { ...started, platforms, reading, events, textOf, failed }
}

const hosts = ({ platforms }: ReturnType<typeof start>) =>
  platforms.requests.map(({ url }) => new URL(url).hostname)

describe('a call is sent again', () => {
  test.each<[string, Answer]>([
    ['was refused a connection', 'refused'],
    ['is at its rate limit', [refusal(429, { code: 'too_many_requests', message: TOO_MANY, status: 429 })]],
  ])('to another deployment when the first one %s, and is one call', async (_name, answer) => {
    const call = start([answer, [text('Hi'), END]])
    expect(await call.reading).toBeUndefined()
    expect(call.textOf()).toBe('Hi')
    expect(new Set(hosts(call))).toEqual(new Set(['main.example', 'us.example']))
    const last = hosts(call)[1]?.split('.')[0]
    expect(call.ends).toMatchObject([{ outcome: 'done', attempts: 2, deployment: last }])
    const first = hosts(call)[0]?.split('.')[0]
    expect(call.ends[0]?.attemptList).toMatchObject([
      { deployment: first, reason: expect.stringMatching(/^agent_/) },
      { deployment: last, outcome: 'done', reason: undefined },
    ])
    expect(call.events.filter(({ type }) => type === 'end')).toHaveLength(1)
  })

  test('and the client gets the last failure if all attempts fail', async () => {
    const call = start([
      'refused',
      [refusal(500, { code: 'internal_server_error', message: 'x', status: 500 })],
    ])
    expect(await call.reading).toBe('agent_error')
    expect(call.ends).toMatchObject([
      { outcome: 'upstream_error', attempts: 2, failure: { reason: 'agent_error' } },
    ])
    const [unreachable, failed] = call.ends[0]?.attemptList ?? []
    expect(unreachable).toMatchObject({ reason: 'agent_unreachable', startMs: 0 })
    expect(failed).toMatchObject({ reason: 'agent_error', platformStatus: 500, outcome: 'upstream_error' })
  })

  test('from a hang, if the agent keeps nothing, within its share of the time', async () => {
    const call = start(['hang', [completion('Hi')]], 'openai')
    await vi.advanceTimersByTimeAsync(4_999)
    expect(call.platforms.requests).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(2)
    expect(await call.reading).toBeUndefined()
    expect([call.textOf(), call.platforms.requests.length]).toEqual(['Hi', 2])
    const [hung, next] = call.ends[0]?.attemptList ?? []
    expect(hung).toMatchObject({ startMs: 0, durationMs: 5_000, outcome: 'timeout', reason: 'agent_timeout' })
    expect(next).toMatchObject({ startMs: 5_000, outcome: 'done' })
  })
})

describe('a call is sent once', () => {
  test.each<[string, Answer, 'dify' | 'openai', string]>([
    ['its request was written and the connection broke', 'reset', 'dify', 'agent_truncated'],
    ['a proxy answered', [refusal(503, {})], 'dify', 'agent_error'],
    ['an event was seen', [DELTA, { kind: 'end' }], 'openai', 'agent_truncated'],
  ])('when %s', async (_name, answer, platform, reason) => {
    const call = start([answer, [text('no'), END]], platform)
    expect(await call.reading).toBe(reason)
    expect(call.platforms.requests).toHaveLength(1)
    expect(call.ends).toMatchObject([{ attempts: 1, attemptList: [{ reason }] }])
  })

  test('when nothing came in time and the platform may have the turn', async () => {
    const call = start(['hang', [text('no'), END]])
    await vi.advanceTimersByTimeAsync(9_999)
    expect(call.ends).toEqual([])
    await vi.advanceTimersByTimeAsync(2)
    expect(await call.reading).toBe('agent_timeout')
    expect(call.platforms.requests).toHaveLength(1)
  })

  test('when its reader has seen a part of the answer', async () => {
    const call = start([
      [text('Hi'), refusal(429, {})],
      [text('no'), END],
    ])
    await call.reading
    expect([call.textOf(), call.platforms.requests.length]).toEqual(['Hi', 1])
  })

  test('when its client leaves before the next attempt', async () => {
    const platforms = new Platforms(['refused', [text('no'), END]])
    const agent = agentWith([{ id: 'main', agent: { timeouts } }], { id: 'dify', timeouts })
    const { reply, ends } = startReply({ agent, upstream: platforms })
    const reading = reply.read(() => undefined).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(50)
    reply.leave()
    expect(await reading).toBeInstanceOf(Problem)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(platforms.requests).toHaveLength(1)
    expect(ends).toMatchObject([
      { outcome: 'client_gone', attempts: 1, attemptList: [{ reason: 'agent_unreachable' }] },
    ])
  })
})

test.each<[string, (call: ReturnType<typeof start>) => void]>([
  ['succeeds', () => undefined],
  ['is left by its client', ({ reply }) => reply.leave()],
])('the attempt of a call that %s at once is not listed', async (_name, act) => {
  const call = start([[text('Hi'), END]])
  act(call)
  await call.reading
  expect(call.ends).toHaveLength(1)
  expect(call.ends[0]?.attemptList).toBeUndefined()
})

test('of a call with many attempts the first ones are listed', async () => {
  const count = ATTEMPTS_LISTED_MAX + 2
  const deployments = Array.from({ length: count }, (_, index) => ({ id: `d${index}`, agent: { timeouts } }))
  const retry = { attempts: count, firstByteMs: undefined }
  const agent = agentWith(deployments, { id: 'dify', timeouts, retry })
  const platforms = new Platforms(Array.from({ length: count }, () => 'refused'))
  const { reply, ends } = startReply({ agent, upstream: platforms })
  await expect(reply.read(() => undefined)).rejects.toMatchObject({ reason: 'agent_unreachable' })
  expect(ends[0]?.attempts).toBe(count)
  expect(ends[0]?.attemptList).toHaveLength(ATTEMPTS_LISTED_MAX)
})

test('a turn that was not taken is ended in its conversation before the next attempt enters it', async () => {
  const order: string[] = []
  const platforms = new Platforms(['refused', [text('Hi'), END]])
  const agent = agentWith(TWO, { id: 'dify', timeouts })
  const { reply } = startReply({
    agent,
    upstream: platforms,
    enter: ({ call }) => {
      order.push('enter')
      const turn = turnOf({
        failed: async (_failure, state) => {
          await Promise.resolve()
          order.push(`left: ${state}`)
        },
      })
      return { agentCall: { ...callOf(call.agent) }, turn }
    },
  })
  await reply.read(() => undefined)
  expect(order).toEqual(['enter', 'left: none', 'enter'])
})
