import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { AgentCall, HelperCall, UpstreamEvent, UpstreamRequest } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { agentOf, callOf, textSent } from '#core/agents/transcripts.test-support.ts'
import { CONFIGURED_CARDS } from '#core/agents/upstream/configured-cards.test-support.ts'
import { OpeningFailed } from '#core/agents/upstream/opening-failed.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from '#core/agents/upstream/upstream-reply.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { AttemptDeps } from './attempted-call.ts'
import type { CallEvent, Settled } from './call-events.ts'
import type { ConversationTurn, Entered } from './conversation/enter-conversation.ts'
import { type ReplyOptions, startReply, turnOf } from './reply.test-support.ts'
import type { Reply } from './reply.ts'
import type { KnownFiles } from './request/attach-files.ts'

const STREAM_BYTES_MAX = 1_000
const timeouts = { connectMs: 5, firstByteMs: 300, idleMs: 100, totalMs: 1_000 }

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

/** A platform whose parts are sent by the test. */
class FakePlatform implements Upstream, UpstreamReply {
  readonly cards = CONFIGURED_CARDS
  status: number | undefined
  readonly wasBegun = true
  readonly requests: UpstreamRequest[] = []
  readonly helped: string[] = []
  /** How long its stop calls take. */
  helpMs = 0
  cancelledWith: Error | undefined
  isFinished = false
  #parts: UpstreamPart[] = []
  #waiting: PromiseWithResolvers<UpstreamPart> | undefined

  open(_agent: unknown, request: UpstreamRequest): UpstreamReply {
    this.requests.push(request)
    // A second request gets a reply of its own.
    if (this.requests.length > 1) this.cancelledWith = undefined
    return this
  }

  async help<Result>(_agent: unknown, call: HelperCall<Result>) {
    this.helped.push(call.request.url)
    if (this.helpMs > 0) await new Promise((resolve) => setTimeout(resolve, this.helpMs))
    // It takes requests to stop, and keeps no replies that could be read later.
    if (call.request.method === 'GET')
      return { failure: { reason: 'agent_error' as const, platformStatus: 404 } }
    return { ok: undefined } as ReturnType<HelperCall<Result>['read']>
  }

  async close(): Promise<void> {}

  next(): Promise<UpstreamPart> {
    const part = this.#parts.shift()
    if (part !== undefined) return Promise.resolve(part)
    if (this.cancelledWith !== undefined) return Promise.reject(this.cancelledWith)
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  interrupt(cause: Error): void {
    this.#waiting?.reject(cause)
    this.#waiting = undefined
  }

  finish(): void {
    this.isFinished = true
    this.end()
  }

  cancel(cause: Error): void {
    this.cancelledWith ??= cause
    this.interrupt(cause)
  }

  send(part: UpstreamPart): void {
    if (this.cancelledWith !== undefined) return
    if (this.#waiting === undefined) this.#parts.push(part)
    else this.#waiting.resolve(part)
    this.#waiting = undefined
  }

  events(...data: readonly (string | object)[]): void {
    this.status = 200
    this.send({ kind: 'events', events: data.map(eventOf) })
  }

  end(): void {
    this.send({ kind: 'end' })
  }

  body(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.status = status
    this.send({ kind: 'body', status, body, header: (name) => headers[name] })
  }
}

function eventOf(data: string | object): UpstreamEvent {
  return { event: undefined, data: typeof data === 'string' ? data : JSON.stringify(data) }
}

const delta = (content: string) => ({ model: 'm-1', choices: [{ delta: { content } }] })
const stop = { choices: [{ delta: {}, finish_reason: 'stop' }] }
const usage = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }

interface Start {
  readonly turn?: Partial<ConversationTurn>
  readonly knownFiles?: KnownFiles
  readonly enter?: AttemptDeps['enter']
  readonly inTurn?: ReplyOptions['inTurn']
}

function start(name: string, { turn, knownFiles, enter, ...more }: Start = {}) {
  // The attempts after a failure have tests of their own.
  const retry = { attempts: knownFiles === undefined ? 1 : 2, firstByteMs: undefined }
  const agent = agentOf(name, { timeouts, endGraceMs: 50, retry })
  const platform = new FakePlatform()
  const agentCall = callOf(agent, { platformConversationId: 'conversation-1' })
  const entered = async (): Promise<Entered> => ({ agentCall, turn: turnOf(turn), knownFiles })
  const options = { ...more, agent, upstream: platform, streamBytesMax: STREAM_BYTES_MAX }
  return { platform, ...startReply({ ...options, enter: enter ?? entered }) }
}

interface ReadResult {
  readonly events: readonly ChatEvent[]
  readonly problem?: Problem
}

async function readAll(reply: Reply, pause?: () => Promise<void>): Promise<ReadResult> {
  const events: ChatEvent[] = []
  try {
    await reply.read((batch) => {
      events.push(...batch)
      return pause?.()
    })
    return { events }
  } catch (error) {
    if (error instanceof Problem) return { events, problem: error }
    throw error
  }
}

/** The whole reply to these events. */
async function replyTo(name: string, events: readonly (string | object)[], more?: Start) {
  const started = start(name, more)
  started.platform.events(...events)
  started.platform.end()
  return { ...started, result: await readAll(started.reply) }
}

const textOf = ({ events }: ReadResult) =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('')

test('a second read is rejected, during the first and after it, and sends no request', async () => {
  const { reply, platform, ends } = start('openai')
  const first = readAll(reply)
  await expect(reply.read(() => undefined)).rejects.toThrow('only once')
  platform.events(delta('Hello'), stop)
  platform.end()
  expect(textOf(await first)).toBe('Hello')
  await expect(reply.read(() => undefined)).rejects.toThrow('only once')
  expect(platform.requests).toHaveLength(1)
  expect(ends).toMatchObject([{ outcome: 'done' }])
})

describe('a complete reply', () => {
  test('is passed on as events with one end event, and is settled once as done', async () => {
    const { reply, platform, ends } = start('openai')
    const reading = readAll(reply)
    await vi.advanceTimersByTimeAsync(20)
    platform.events(delta('Hel'), delta('lo'))
    await vi.advanceTimersByTimeAsync(20)
    platform.events(stop, usage, '[DONE]')
    platform.end()
    expect(await reading).toEqual({
      events: [
        { type: 'model', model: 'm-1' },
        { type: 'text', text: 'Hel' },
        { type: 'text', text: 'lo' },
        { type: 'usage', usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } },
        { type: 'end', reason: 'stop' },
      ],
    })
    expect(ends).toEqual([
      {
        outcome: 'done',
        hasTurn: true,
        model: 'm-1',
        usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
        firstTextMs: 20,
        durationMs: 40,
        deployment: 'main',
        attempts: 1,
      },
    ])
  })

  test('may be a body instead of a stream', async () => {
    const { reply, platform, ends } = start('openai')
    platform.body(200, { model: 'm-1', choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] })
    const result = await readAll(reply)
    expect([textOf(result), result.problem, ends]).toMatchObject(['Hi', undefined, [{ outcome: 'done' }]])
  })

  test.each(['agent_truncated', 'agent_malformed'] as const)(
    'is whole if the response breaks off after its reported end (%s)',
    async (reason) => {
      const { reply, platform, ends } = start('openai')
      platform.events(delta('Hi'), stop)
      const reading = readAll(reply)
      await vi.advanceTimersByTimeAsync(1)
      platform.cancel(new UpstreamError(reason))
      expect((await reading).events.at(-1)).toEqual({ type: 'end', reason: 'stop' })
      expect(ends).toMatchObject([{ outcome: 'done' }])
    },
  )

  test('stays open for a grace period after its reported end, then its connection is closed', async () => {
    const { reply, platform, ends } = start('openai')
    const reading = readAll(reply)
    platform.events(delta('Hi'), stop)
    await vi.advanceTimersByTimeAsync(40)
    platform.events(usage)
    await vi.advanceTimersByTimeAsync(9)
    expect(ends).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect((await reading).events.map(({ type }) => type)).toEqual(['model', 'text', 'usage', 'end'])
    expect(ends).toMatchObject([{ outcome: 'done', usage: { totalTokens: 3 }, durationMs: 50 }])
    expect(platform.isFinished).toBe(true)
  })

  test('that reached the length limit ends with length, even if a stop follows', async () => {
    const atLimit = { choices: [{ delta: {}, finish_reason: 'length' }] }
    const { result } = await replyTo('openai', [delta('Hi'), atLimit, '[DONE]'])
    expect(result.events.at(-1)).toEqual({ type: 'end', reason: 'length' })
  })

  test('is stored before its end event is passed on, and does not fail if storing it fails', async () => {
    const kept = Promise.withResolvers<void>()
    const { reply, platform, ends } = start('openai', { turn: { complete: () => kept.promise } })
    platform.events(delta('Hi'), stop)
    platform.end()
    const types: string[] = []
    const reading = readAll(reply).then(({ events }) => types.push(...events.map(({ type }) => type)))
    await vi.advanceTimersByTimeAsync(500)
    expect([types, ends]).toEqual([[], []])
    const cause = new Error('the database is down')
    kept.reject(cause)
    await reading
    expect(types.at(-1)).toBe('end')
    expect(ends).toMatchObject([{ outcome: 'done', cause }])
  })
})

describe('a reply that goes on after a reported end', () => {
  const END_OF: Readonly<Record<string, readonly (object | string)[]>> = {
    openai: [stop, '[DONE]'],
    dify: [{ event: 'message_end' }, { event: 'message_end' }],
    hiagent: [{ event: 'message_end' }, { event: 'message_end' }],
    fastgpt: [stop, '[DONE]'],
  }
  const PIECE_OF: Readonly<Record<string, (text: string) => object>> = {
    openai: delta,
    fastgpt: delta,
    dify: (answer) => ({ event: 'message', answer }),
    hiagent: (answer) => ({ event: 'message', answer }),
  }

  test.each(Object.keys(END_OF))(
    'is read to its next end, however slowly it goes on, on %s',
    async (name) => {
      const { reply, platform, ends } = start(name)
      const [early = '', last = ''] = END_OF[name] ?? []
      const reading = readAll(reply)
      platform.events(early)
      await vi.advanceTimersByTimeAsync(80)
      for (const letter of 'abcdefgh') {
        platform.events(PIECE_OF[name]?.(letter) ?? '')
        // Longer than the grace period after an end.
        await vi.advanceTimersByTimeAsync(80)
      }
      platform.events(last)
      await vi.advanceTimersByTimeAsync(100)
      expect(textOf(await reading)).toBe('abcdefgh')
      expect(ends).toMatchObject([{ outcome: 'done' }])
    },
  )

  test('is read to its end though each of its events ends it, and though it pauses', async () => {
    const { reply, platform } = start('openai')
    const reading = readAll(reply)
    for (const letter of 'abc') {
      platform.events({ choices: [{ delta: { content: letter }, finish_reason: 'stop' }] })
      await vi.advanceTimersByTimeAsync(45)
    }
    // Longer than the grace period, of which two ends have shown that it is too short.
    await vi.advanceTimersByTimeAsync(40)
    platform.events({ choices: [{ delta: { content: 'd' }, finish_reason: 'stop' }] })
    platform.end()
    expect(textOf(await reading)).toBe('abcd')
  })

  test('is empty or not only when the response has ended', async () => {
    const { reply, platform } = start('openai')
    const reading = readAll(reply)
    platform.events(stop)
    await vi.advanceTimersByTimeAsync(100)
    expect(await reading).toMatchObject({ events: [{ type: 'end', reason: 'stop' }] })
    expect(platform.isFinished).toBe(true)
  })

  test('is complete at the clean end of the response', async () => {
    const { result } = await replyTo('openai', [stop, delta('abc')])
    expect(result.events).toMatchObject([{}, { text: 'abc' }, { type: 'end', reason: 'stop' }])
  })

  test.each([
    ['is silent', (_p: FakePlatform) => undefined, 'agent_timeout'],
    ['breaks off', (p: FakePlatform) => p.cancel(new UpstreamError('agent_truncated')), 'agent_truncated'],
  ])('fails if it then %s', async (_how, then, reason) => {
    const { reply, platform } = start('openai')
    const reading = readAll(reply)
    platform.events(stop, delta('abc'))
    await vi.advanceTimersByTimeAsync(80)
    then(platform)
    await vi.advanceTimersByTimeAsync(50)
    expect((await reading).problem?.reason).toBe(reason)
  })
})

test.each([
  ['openai', [delta('abc'), stop]],
  ['dify', [{ event: 'message', answer: 'abc' }, { event: 'message_end' }]],
  [
    'dify',
    [
      { event: 'message', answer: 'abc' },
      { event: 'workflow_finished', data: { status: 'succeeded' } },
    ],
  ],
])('a connection that breaks after the end of the answer is no failure, on %s', async (name, events) => {
  const { reply, platform, ends } = start(name)
  platform.events(...events)
  platform.cancel(new UpstreamError('agent_truncated'))
  const result = await readAll(reply)
  expect([textOf(result), result.problem]).toEqual(['abc', undefined])
  expect(ends).toMatchObject([{ outcome: 'done' }])
})

test('what the platform has said of the end of a run explains a connection that breaks', async () => {
  const { reply, platform } = start('dify')
  platform.events(
    { event: 'message', answer: 'abc' },
    { event: 'workflow_finished', data: { status: 'failed' } },
  )
  platform.cancel(new UpstreamError('agent_truncated'))
  expect((await readAll(reply)).problem?.reason).toBe('agent_error')
})

test.each([
  ['agent_truncated', 'upstream_error'],
  ['agent_timeout', 'timeout'],
] as const)(
  'the end of a run that has finished is not lost where nothing follows it (%s), and there is none if the answer goes on',
  async (reason, outcome) => {
    const events = [
      { event: 'message', answer: 'abc' },
      { event: 'workflow_finished', data: { status: 'succeeded' } },
    ]
    const whole = start('dify')
    whole.platform.events(...events)
    whole.platform.cancel(new UpstreamError(reason))
    expect((await readAll(whole.reply)).problem).toBeUndefined()

    const cut = start('dify')
    cut.platform.events(...events, { event: 'message', answer: 'def' })
    cut.platform.cancel(new UpstreamError(reason))
    const result = await readAll(cut.reply)
    expect([textOf(result), result.problem?.reason]).toEqual(['abcdef', reason])
    expect(cut.ends).toMatchObject([{ outcome }])
  },
)

test('a text that is held back is passed on before a failure', async () => {
  const { reply, platform } = start('openai')
  const message = (content: string) => ({ choices: [{ index: 0, message: { content } }] })
  platform.events(message('1'))
  const reading = readAll(reply)
  await vi.advanceTimersByTimeAsync(0)
  platform.events(message('1'))
  platform.cancel(new UpstreamError('agent_truncated'))
  const result = await reading
  expect([textOf(result), result.problem?.reason]).toEqual(['11', 'agent_truncated'])
})

describe('a reply with too much text', () => {
  const half = 'x'.repeat(STREAM_BYTES_MAX / 2)

  test('is passed on whole if it has exactly the maximum size', async () => {
    const { result, ends } = await replyTo('openai', [delta(half), delta(half), stop])
    expect([textOf(result).length, result.problem]).toEqual([STREAM_BYTES_MAX, undefined])
    expect(ends).toMatchObject([{ outcome: 'done' }])
  })

  test.each([
    ['text', delta('!')],
    ['reasoning', { choices: [{ delta: { reasoning_content: '!' } }] }],
    ['a tool call', { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '!' } }] } }] }],
  ])('fails as malformed at the next byte of %s, and its connection is closed', async (_name, more) => {
    const events = [delta(half), delta(half), more, delta('never read'), stop]
    const { result, ends, platform } = await replyTo('openai', events)
    expect([textOf(result).length, result.problem?.reason]).toEqual([STREAM_BYTES_MAX, 'agent_malformed'])
    expect(result.problem?.detail).toContain(`${STREAM_BYTES_MAX} bytes`)
    expect(ends).toMatchObject([{ outcome: 'upstream_error', failure: { reason: 'agent_malformed' } }])
    expect(platform.cancelledWith).toBeDefined()
  })

  test('is measured in bytes, not in characters', async () => {
    const { result } = await replyTo('openai', [delta('ü'.repeat(STREAM_BYTES_MAX / 2)), delta('ü'), stop])
    expect(result.problem?.reason).toBe('agent_malformed')
  })

  test('fails as malformed if it is a body, too', async () => {
    const { reply, platform } = start('openai')
    platform.body(200, { choices: [{ message: { content: `${half}${half}!` }, finish_reason: 'stop' }] })
    expect(await readAll(reply)).toMatchObject({ events: [], problem: { reason: 'agent_malformed' } })
  })
})

describe('a platform that sends an invalid id', () => {
  const message = (ids: object) => ({ event: 'message', answer: 'Hi', ...ids })

  test.each([
    ['a conversation, with a NUL', { conversation_id: 'a\0b', task_id: 'run' }],
    ['a reply, with a lone surrogate', { conversation_id: 'a', task_id: '\ud800' }],
    ['a reply, with 257 characters', { conversation_id: 'a', task_id: 'r'.repeat(257) }],
  ])('of %s makes the reply malformed, and the id is not stored', async (_name, ids) => {
    const named: string[] = []
    const turn = { named: (id: string) => named.push(id) }
    const { result, ends } = await replyTo('dify', [message(ids), { event: 'message_end' }], { turn })
    expect(result.problem?.reason).toBe('agent_malformed')
    expect(ends).toMatchObject([{ outcome: 'upstream_error', failure: { reason: 'agent_malformed' } }])
    expect(named).toEqual([])
  })
})

describe('a refusal of fields that the gateway adds', () => {
  const refusal = (...fields: string[]) => ({
    message: {
      detail: fields.map((field) => ({ loc: ['body', field], msg: 'Extra inputs are not permitted' })),
    },
  })
  const sentIn = (platform: FakePlatform) =>
    platform.requests.map((request) =>
      ['stream_options', 'user'].filter((field) => textSent(request).includes(`"${field}"`)),
    )

  test('leads to the same request once more without them, also if it was the last attempt, and is told once', async () => {
    const { reply, platform, events, ends } = start('openai')
    const reading = readAll(reply)
    await vi.advanceTimersByTimeAsync(1)
    platform.body(422, refusal('stream_options', 'temperature'))
    await vi.advanceTimersByTimeAsync(1)
    platform.events(delta('Hi'), stop)
    platform.end()
    expect(textOf(await reading)).toBe('Hi')
    expect(sentIn(platform)).toEqual([['stream_options', 'user'], ['user']])
    expect(events.filter(({ type }) => type === 'fields_refused')).toMatchObject([
      { deployment: 'main', fields: ['stream_options'] },
    ])
    expect(ends).toMatchObject([{ outcome: 'done', attempts: 2 }])
  })

  test('is the answer if the field is not one of them, or the caller has sent it', async () => {
    for (const [field, sentFields] of [
      ['temperature', []],
      ['user', ['user']],
    ] as const) {
      const enter = async (): Promise<Entered> => ({
        agentCall: callOf(agentOf('openai'), { sentFields }),
        turn: turnOf(),
      })
      const { reply, platform } = start('openai', { enter })
      const reading = readAll(reply)
      await vi.advanceTimersByTimeAsync(1)
      platform.body(422, refusal(field))
      expect((await reading).problem?.reason).toBe('agent_rejected_input')
      expect(platform.requests).toHaveLength(1)
    }
  })

  test('of a field that was left out already is the answer', async () => {
    const { reply, platform } = start('openai')
    const reading = readAll(reply)
    await vi.advanceTimersByTimeAsync(1)
    platform.body(422, refusal('user'))
    await vi.advanceTimersByTimeAsync(1)
    platform.body(422, refusal('user'))
    expect((await reading).problem?.reason).toBe('agent_rejected_input')
    expect(platform.requests).toHaveLength(2)
  })
})

describe('a failed reply', () => {
  const failures: [string, (platform: FakePlatform) => void, string, Partial<Failure>?][] = [
    ['a body that ends without an end event', (p) => p.end(), 'agent_truncated'],
    ['a broken connection', (p) => p.cancel(new UpstreamError('agent_truncated')), 'agent_truncated'],
    ['an event that does not parse', (p) => p.events('{"a":'), 'agent_malformed', { platformStatus: 200 }],
    [
      'an error in the stream',
      (p) => p.events({ error: { message: 'no', code: 'content_filter' } }),
      'content_filtered',
      { platformCode: 'content_filter', platformStatus: 200 },
    ],
  ]
  test.each(failures)(
    'because of %s rejects after its text was passed on',
    async (_name, fail, reason, facts) => {
      const { reply, platform, ends } = start('openai')
      platform.events(delta('Hel'), delta('lo'))
      fail(platform)
      const result = await readAll(reply)
      expect([textOf(result), result.problem?.reason]).toEqual(['Hello', reason])
      const outcome = reason === 'content_filtered' ? 'rejected' : 'upstream_error'
      expect(ends).toMatchObject([{ outcome, failure: { reason, ...facts }, firstTextMs: 0 }])
      expect(platform.cancelledWith).toBeDefined()
    },
  )

  test('of a rejected request carries the platform’s status, code and log id, and when to retry', async () => {
    const { reply, platform, ends } = start('openai')
    platform.body(
      429,
      { error: { message: 'slow down', code: 'rate_limit_exceeded' } },
      { 'retry-after': '7', 'x-request-id': 'log-1' },
    )
    const { problem } = await readAll(reply)
    expect(problem).toMatchObject({ reason: 'agent_rate_limited', status: 429, retryAfterSeconds: 7 })
    expect(ends).toMatchObject([
      {
        outcome: 'rejected',
        failure: {
          reason: 'agent_rate_limited',
          platformStatus: 429,
          platformCode: 'rate_limit_exceeded',
          platformLogId: 'log-1',
        },
      },
    ])
  })

  test.each([
    ['fastgpt', { code: 514, statusText: 'unAuthApiKey', message: '' }, 'agent_credentials', 'unAuthApiKey'],
    ['coze', { code: 4009, msg: 'busy' }, 'agent_rate_limited', '4009'],
    ['dify', { code: 'invalid_param', message: 'no' }, 'agent_rejected_input', 'invalid_param'],
    ['openai', { error: { code: 'content_filter' } }, 'content_filtered', 'content_filter'],
  ] as const)('of %s with status 200 carries that status', async (name, body, reason, platformCode) => {
    const { reply, platform, ends } = start(name)
    platform.body(200, body)
    expect((await readAll(reply)).problem?.reason).toBe(reason)
    expect(ends).toMatchObject([{ failure: { reason, platformCode, platformStatus: 200 } }])
  })

  test.each<[string, (platform: FakePlatform) => void, string]>([
    ['a page instead of a stream', (platform) => platform.body(200, '<html></html>'), 'agent_error'],
    ['a proxy’s page', (platform) => platform.body(502, '<html></html>'), 'agent_error'],
    ['truncated JSON', (platform) => platform.body(200, '{"choices":'), 'agent_malformed'],
    ['an empty body', (platform) => platform.end(), 'agent_truncated'],
  ])('because of %s is attributed to the platform', async (_name, answer, reason) => {
    const { reply, platform, ends } = start('openai')
    answer(platform)
    expect((await readAll(reply)).problem?.reason).toBe(reason)
    expect(ends).toMatchObject([{ outcome: 'upstream_error', failure: { reason } }])
    expect(ends[0]?.firstTextMs).toBeUndefined()
  })

  test('is one without text, if the platform must send text', async () => {
    const fastgpt = await replyTo('fastgpt', ['[DONE]'])
    expect(fastgpt.result.problem?.reason).toBe('agent_empty_reply')
    expect(fastgpt.ends).toMatchObject([{ outcome: 'upstream_error' }])

    const openai = await replyTo('openai', [stop, '[DONE]'])
    expect(openai.result.events).toEqual([{ type: 'end', reason: 'stop' }])
    expect(openai.ends).toMatchObject([{ outcome: 'done' }])
  })

  test('because its reader throws rejects with the reader’s error', async () => {
    const { reply, platform, ends } = start('openai')
    platform.events(delta('too long'))
    const problem = new Problem('agent_error', { detail: 'The reply is too large.' })
    const tooMuch = () => {
      throw problem
    }
    await expect(reply.read(tooMuch)).rejects.toBe(problem)
    expect(ends).toMatchObject([{ outcome: 'upstream_error', failure: { reason: 'agent_error' } }])
    expect(platform.cancelledWith).toBeDefined()
  })
})

describe('a failure that a new request can cure', () => {
  const file = { name: 'report.pdf', kind: 'document', platformFileId: 'brought-anew' } as const
  const anew = callOf(agentOf('dify', { timeouts }), { files: [file] })
  const refuse = (platform: FakePlatform) =>
    platform.body(400, { code: 'invalid_param', message: 'Invalid upload file' })
  const refusal = { reason: 'agent_rejected_input', message: 'Invalid upload file' } as const
  const PROBLEM = { reason: refusal.reason, detail: refusal.message }

  /** A reply to a call with files that the platform may have forgotten. */
  function startWithFiles(bringAnew: () => Promise<AgentCall>, isForgotten = true) {
    const mayBeForgotten = vi.fn((_failure: Failure) => isForgotten)
    const forget = vi.fn(async () => undefined)
    const complete = vi.fn(async () => undefined)
    const failed = vi.fn(async (_failure: Failure | undefined) => undefined)
    const started = start('dify', {
      turn: { complete, failed },
      knownFiles: { mayBeForgotten, forget, bringAnew },
    })
    return { ...started, mayBeForgotten, complete, failed }
  }

  test('leads to one more request, of which alone the reader learns', async () => {
    const { reply, platform, ends, mayBeForgotten, complete, failed } = startWithFiles(async () => anew)
    const reading = readAll(reply)
    refuse(platform)
    await vi.advanceTimersByTimeAsync(0)
    platform.events(
      { event: 'message', task_id: 't', conversation_id: 'c', answer: 'Hi' },
      { event: 'message_end' },
    )
    platform.end()
    expect(textOf(await reading)).toBe('Hi')
    expect(mayBeForgotten).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(refusal))
    expect(platform.requests.map(textSent)).toEqual([
      expect.not.stringContaining('brought-anew'),
      expect.stringContaining('brought-anew'),
    ])
    expect(ends).toMatchObject([{ outcome: 'done', failure: undefined }])
    expect([complete, failed].map(({ mock }) => mock.calls.length)).toEqual([1, 0])
  })

  test('leads to one request more and no further, and the reader gets the second failure once', async () => {
    const { reply, platform, ends, mayBeForgotten, failed } = startWithFiles(async () => anew)
    const reading = readAll(reply)
    refuse(platform)
    await vi.advanceTimersByTimeAsync(0)
    refuse(platform)
    expect(await reading).toMatchObject({ events: [], problem: PROBLEM })
    expect(platform.requests).toHaveLength(2)
    expect(mayBeForgotten).toHaveBeenCalledOnce()
    expect(ends).toMatchObject([{ outcome: 'rejected', failure: { ...refusal, platformStatus: 400 } }])
    expect(failed).toHaveBeenCalledOnce()
  })

  test('is passed on if it has another reason', async () => {
    const { reply, platform, ends } = startWithFiles(async () => anew, false)
    refuse(platform)
    expect((await readAll(reply)).problem).toMatchObject(PROBLEM)
    expect(platform.requests).toHaveLength(1)
    expect(ends).toHaveLength(1)
  })

  test('is passed on if the reader has seen a part of the reply', async () => {
    const { reply, platform, mayBeForgotten } = startWithFiles(async () => anew)
    platform.events({ event: 'message', task_id: 't', answer: 'Hi' })
    platform.events({ event: 'error', status: 400, code: 'invalid_param', message: 'Invalid upload file' })
    expect((await readAll(reply)).problem).toMatchObject(PROBLEM)
    expect(platform.requests).toHaveLength(1)
    expect(mayBeForgotten).not.toHaveBeenCalled()
  })

  test('ends the call if the files cannot be brought, and no time limit runs while it is', async () => {
    const bringing = Promise.withResolvers<AgentCall>()
    const { reply, platform, ends, failed } = startWithFiles(() => bringing.promise)
    const reading = readAll(reply)
    refuse(platform)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(ends).toEqual([])
    bringing.reject(new Problem('unavailable'))
    expect((await reading).problem?.reason).toBe('unavailable')
    expect(platform.requests).toHaveLength(1)
    expect(ends).toMatchObject([{ outcome: 'upstream_error', failure: { reason: 'unavailable' } }])
    expect(failed).toHaveBeenCalledOnce()
  })

  test('is not cured for a reader that leaves meanwhile', async () => {
    const bringing = Promise.withResolvers<AgentCall>()
    const { reply, platform, ends, failed } = startWithFiles(() => bringing.promise)
    const reading = readAll(reply)
    refuse(platform)
    await vi.advanceTimersByTimeAsync(0)
    reply.end('client_gone')
    bringing.resolve(anew)
    expect((await reading).problem).toBeInstanceOf(Problem)
    expect(platform.requests).toHaveLength(1)
    expect(ends).toMatchObject([{ outcome: 'client_gone' }])
    expect(failed).toHaveBeenCalledOnce()
  })
})

describe('every end', () => {
  const content = { event: 'message', task_id: 't', answer: 'Hi' }

  test.each<[string, (context: ReturnType<typeof start>) => void, number[]]>([
    ['of a complete reply', ({ platform }) => platform.events(content, { event: 'message_end' }), [1, 0]],
    ['of a reply that breaks off', ({ platform }) => platform.end(), [0, 1]],
    ['of a reply that is refused', ({ platform }) => platform.body(400, {}), [0, 1]],
    ['by the client', ({ reply }) => reply.end('client_gone'), [0, 1]],
    ['by a shutdown', ({ reply }) => reply.end('drained'), [0, 1]],
    ['by a time limit', () => undefined, [0, 1]],
  ])(
    '%s ends the turn once, what its opening still does, and what its files take of the memory',
    async (_what, end, calls) => {
      const complete = vi.fn(async () => undefined)
      const failed = vi.fn(async () => undefined)
      const onOver = vi.fn()
      const release = vi.fn()
      const context = start('dify', {
        async enter(_chat, ending) {
          ending.signal.addEventListener('abort', onOver)
          const turn = turnOf({ complete, failed })
          return { agentCall: callOf(agentOf('dify')), turn, memory: { release } }
        },
      })
      const reading = readAll(context.reply)
      await vi.advanceTimersByTimeAsync(1)
      expect([onOver, release].map(({ mock }) => mock.calls.length)).toEqual([0, 0])
      end(context)
      context.platform.end()
      await vi.advanceTimersByTimeAsync(6_000)
      await reading
      expect([complete, failed].map(({ mock }) => mock.calls.length)).toEqual(calls)
      expect(onOver).toHaveBeenCalledOnce()
      expect(release).toHaveBeenCalled()
    },
  )
})

describe('a time limit', () => {
  test('for the first byte ends a reply that does not begin', async () => {
    const { reply, platform, ends } = start('openai')
    const reading = readAll(reply)
    await vi.advanceTimersByTimeAsync(299)
    expect(ends).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect((await reading).problem).toMatchObject({ reason: 'agent_timeout', status: 504 })
    expect(ends).toMatchObject([
      { outcome: 'timeout', failure: { reason: 'agent_timeout' }, durationMs: 300 },
    ])
    expect(platform.cancelledWith).toBeDefined()
  })

  test('between events ends a reply that pauses, and heartbeats do not count as events', async () => {
    const { reply, platform, ends } = start('fastgpt')
    const reading = readAll(reply)
    platform.events(delta('Hi'))
    for (let beat = 0; beat < 3; beat += 1) {
      await vi.advanceTimersByTimeAsync(30)
      platform.events(delta(''))
    }
    await vi.advanceTimersByTimeAsync(10)
    expect((await reading).problem?.reason).toBe('agent_timeout')
    expect(ends).toMatchObject([{ outcome: 'timeout', durationMs: 100 }])
  })

  test('is suspended while the reader is slow', async () => {
    const { reply, platform, ends } = start('openai')
    const taken = Promise.withResolvers<void>()
    platform.events(delta('Hi'))
    const reading = readAll(reply, () => taken.promise)
    await vi.advanceTimersByTimeAsync(500)
    taken.resolve()
    platform.events(delta('there'), stop)
    platform.end()
    expect((await reading).problem).toBeUndefined()
    expect(ends).toMatchObject([{ outcome: 'done', durationMs: 500 }])
  })
})

describe('a reader that leaves', () => {
  test('has its call settled at once as client_gone, and the platform’s connection closed', async () => {
    const { reply, platform, ends } = start('openai')
    platform.events(delta('Hi'))
    const waiting = expect(readAll(reply)).resolves.toMatchObject({ problem: expect.any(Problem) })
    await vi.advanceTimersByTimeAsync(0)
    reply.end('client_gone')
    expect(ends).toMatchObject([{ outcome: 'client_gone' }])
    expect(ends[0]?.failure).toBeUndefined()
    expect(platform.cancelledWith).toBeDefined()
    await waiting
    reply.end('drained')
    expect(ends).toHaveLength(1)
  })

  test('while it processes a batch does not delay the settlement', async () => {
    const { reply, platform, ends } = start('openai')
    const taken = Promise.withResolvers<void>()
    platform.events(delta('Hi'))
    const reading = readAll(reply, () => taken.promise)
    await vi.advanceTimersByTimeAsync(10)
    reply.end('client_gone')
    expect(ends).toMatchObject([{ outcome: 'client_gone' }])
    taken.resolve()
    expect((await reading).problem).toBeInstanceOf(Problem)
    expect(platform.cancelledWith).toBeDefined()
  })

  test('before the request is sent prevents it', async () => {
    const { reply, platform, ends } = start('openai')
    reply.end('client_gone')
    expect((await readAll(reply)).problem).toBeInstanceOf(Problem)
    expect(ends).toMatchObject([{ outcome: 'client_gone' }])
    expect(platform.requests).toEqual([])
  })

  test('stops the run by the platform’s stop call, if there is one, which a drain waits for', async () => {
    const { reply, platform, stops } = start('fastgpt')
    platform.events(delta('Hi'))
    void readAll(reply)
    await vi.advanceTimersByTimeAsync(0)
    platform.helpMs = 70
    let isStopped = false
    reply.end('client_gone')
    stops[0]?.then(() => {
      isStopped = true
    })
    await vi.advanceTimersByTimeAsync(69)
    expect(platform.helped).toEqual(['https://platform.example/api/v2/chat/stop'])
    expect([platform.cancelledWith, isStopped]).toEqual([expect.any(Error), false])
    await vi.advanceTimersByTimeAsync(1)
    expect(isStopped).toBe(true)
  })

  test('before the run has an id keeps the connection open until the id arrives for the stop call', async () => {
    const { reply, platform, ends } = start('dify')
    const waiting = expect(readAll(reply)).resolves.toMatchObject({ problem: expect.any(Problem) })
    await vi.advanceTimersByTimeAsync(10)
    reply.end('client_gone')
    await waiting
    expect(ends).toMatchObject([{ outcome: 'client_gone' }])
    await vi.advanceTimersByTimeAsync(4_000)
    expect([platform.helped, platform.cancelledWith]).toEqual([[], undefined])
    platform.events({ event: 'message', task_id: 'task-1', answer: 'Hi' })
    await vi.advanceTimersByTimeAsync(0)
    expect(platform.helped).toEqual(['https://platform.example/v1/chat-messages/task-1/stop'])
    expect(platform.cancelledWith).toBeDefined()
  })

  test('before the run has an id keeps the connection open for at most five seconds', async () => {
    const { reply, platform } = start('dify')
    const waiting = expect(readAll(reply)).resolves.toMatchObject({ problem: expect.any(Problem) })
    await vi.advanceTimersByTimeAsync(10)
    reply.end('client_gone')
    await waiting
    await vi.advanceTimersByTimeAsync(4_999)
    expect(platform.cancelledWith).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect([platform.helped, platform.cancelledWith]).toEqual([[], expect.any(Error)])
  })

  test('after the end changes nothing', async () => {
    const { reply, platform, ends } = await replyTo('openai', [delta('Hi'), stop])
    reply.end('client_gone')
    expect(ends.map(({ outcome }) => outcome)).toEqual(['done'])
    expect(platform.helped).toEqual([])
  })
})

test('a drained reply fails with draining and is settled as drained', async () => {
  const { reply, platform, ends } = start('openai')
  const reading = readAll(reply)
  platform.events(delta('Hi'))
  await vi.advanceTimersByTimeAsync(10)
  reply.end('drained')
  expect((await reading).problem?.reason).toBe('draining')
  expect(ends).toMatchObject([{ outcome: 'drained', failure: { reason: 'draining' } }])
})

describe('a call whose key is not valid any more', () => {
  const refuse = (reply: Reply) => reply.end('rejected', 'key_revoked')
  const REJECTED = [{ outcome: 'rejected', failure: { reason: 'key_revoked' } }]
  const never = new Promise<never>(() => undefined)

  test('ends with the reason after what was passed on, and stops the platform', async () => {
    const { reply, platform, ends } = start('fastgpt')
    const reading = readAll(reply)
    platform.events(delta('Hi'))
    await vi.advanceTimersByTimeAsync(10)
    refuse(reply)
    const result = await reading
    expect([textOf(result), result.problem]).toMatchObject(['Hi', { reason: 'key_revoked', status: 401 }])
    expect(ends).toMatchObject(REJECTED)
    expect(platform.helped).toEqual(['https://platform.example/api/v2/chat/stop'])
  })

  test('ends also before it is read, and sends no request', async () => {
    const { reply, platform, ends } = start('openai')
    refuse(reply)
    expect(await readAll(reply)).toMatchObject({ events: [], problem: { reason: 'key_revoked' } })
    expect([platform.requests, ends]).toMatchObject([[], REJECTED])
  })

  test('does not wait until its conversation can be entered, which is left when it is', async () => {
    const opening = Promise.withResolvers<Entered>()
    const failed = vi.fn(async () => undefined)
    const { reply, platform, ends } = start('openai', { enter: () => opening.promise })
    const reading = readAll(reply)
    await vi.advanceTimersByTimeAsync(10)
    refuse(reply)
    expect((await reading).problem?.reason).toBe('key_revoked')
    opening.resolve({ agentCall: callOf(agentOf('openai')), turn: turnOf({ failed }) })
    await vi.advanceTimersByTimeAsync(0)
    expect(failed).toHaveBeenCalledOnce()
    expect([platform.requests, ends]).toMatchObject([[], REJECTED])
  })

  test('does not wait for a new request either, nor for the end of its turn', async () => {
    const knownFiles = { mayBeForgotten: () => true, forget: async () => undefined, bringAnew: () => never }
    const renewing = start('dify', { turn: { failed: () => never }, knownFiles })
    const reading = readAll(renewing.reply)
    renewing.platform.body(400, { code: 'invalid_param', message: 'Invalid upload file' })
    await vi.advanceTimersByTimeAsync(10)
    refuse(renewing.reply)
    expect((await reading).problem?.reason).toBe('key_revoked')
    expect([renewing.platform.requests.length, renewing.ends]).toMatchObject([1, REJECTED])
  })

  test('gets no end event while its turn is stored, since that means success', async () => {
    const { reply, platform, ends } = start('openai', { turn: { complete: () => never } })
    const reading = readAll(reply)
    platform.events(delta('Hi'))
    await vi.advanceTimersByTimeAsync(0)
    platform.events(stop)
    platform.end()
    await vi.advanceTimersByTimeAsync(10)
    refuse(reply)
    const { events, problem } = await reading
    expect([events.map(({ type }) => type), problem?.reason]).toEqual([['model', 'text'], 'key_revoked'])
    expect(ends).toMatchObject(REJECTED)
  })

  test('closes its connection at once, and stops the platform in its turn', async () => {
    const turn = Promise.withResolvers<void>()
    const { reply, platform } = start('fastgpt', { inTurn: (send) => turn.promise.then(send) })
    platform.events(delta('Hi'))
    const reading = readAll(reply)
    await vi.advanceTimersByTimeAsync(0)
    refuse(reply)
    expect((await reading).problem?.reason).toBe('key_revoked')
    expect([platform.cancelledWith, platform.helped]).toEqual([expect.any(Error), []])
    turn.resolve()
    await vi.advanceTimersByTimeAsync(0)
    expect(platform.helped).toEqual(['https://platform.example/api/v2/chat/stop'])
  })
})

describe('the conversation', () => {
  test('receives the events, the platform’s id and the failure of the reply', async () => {
    const seen: unknown[] = []
    const turn: Partial<ConversationTurn> = {
      saw: (events) => seen.push(events.map(({ type }) => type)),
      named: (id) => seen.push(id),
      failed: async (failure) => void seen.push(failure),
    }
    await replyTo('dify', [{ event: 'message', task_id: 't', conversation_id: 'c-9', answer: 'Hi' }], {
      turn,
    })
    expect(seen).toEqual(['c-9', ['text'], 'c-9', { reason: 'agent_truncated', platformStatus: 200 }])
  })

  const limited = { reason: 'agent_rate_limited', retryAfterSeconds: 3 } as const
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const unreachable = Object.assign(new UpstreamError('agent_unreachable'), { code: 'ECONNREFUSED' })
  const bug = new Error('a bug')
  test.each<[string, Error, object, Partial<Settled>]>([
    [
      'the platform refuses to create it',
      new OpeningFailed(limited),
      limited,
      { outcome: 'rejected', failure: limited },
    ],
    [
      'the platform cannot be reached',
      unreachable,
      { reason: 'agent_unreachable', status: 502 },
      { cause: undefined },
    ],
    [
      'it is busy',
      new Problem('conversation_busy'),
      { reason: 'conversation_busy' },
      { outcome: 'rejected' },
    ],
    // Also for who counts what was not available.
    [
      'it cannot be read',
      refused,
      { reason: 'unavailable', status: 503, limit: 'database' },
      { cause: refused },
    ],
    ['of a bug, of which no detail is told', bug, { reason: 'internal_error', status: 500 }, { cause: bug }],
  ])('that cannot be entered because %s fails the call', async (_why, error, problem, end) => {
    const { reply, platform, ends } = start('dify', { enter: () => Promise.reject(error) })
    const result = await readAll(reply)
    expect(result.problem).toMatchObject(problem)
    const failure = { reason: result.problem?.reason }
    expect(ends).toMatchObject([{ outcome: 'upstream_error', failure, ...end }])
    expect(platform.requests).toEqual([])
  })

  test('is released if it opens after the reader has left, and no request is sent', async () => {
    const opening = Promise.withResolvers<Entered>()
    const failed = vi.fn(async () => undefined)
    const { reply, platform, ends } = start('openai', { enter: () => opening.promise })
    const waiting = expect(readAll(reply)).resolves.toMatchObject({ problem: expect.any(Problem) })
    reply.end('client_gone')
    expect(ends).toMatchObject([{ outcome: 'client_gone' }])
    opening.resolve({ agentCall: callOf(agentOf('openai')), turn: turnOf({ failed }) })
    await waiting
    expect(platform.requests).toEqual([])
    expect(failed).toHaveBeenCalledOnce()
    expect(ends).toHaveLength(1)
  })
})

describe('each step of a call is one event', () => {
  const stepsOf = (events: readonly CallEvent[]) =>
    events.map(({ call: _call, ...event }) => (event.type === 'settled' ? event.type : event))

  test('of a complete reply', async () => {
    const { reply, platform, events } = start('openai')
    const reading = readAll(reply)
    await vi.advanceTimersByTimeAsync(20)
    platform.events(delta('Hel'))
    await vi.advanceTimersByTimeAsync(20)
    platform.events(delta('lo'), stop)
    platform.end()
    await reading
    expect(stepsOf(events)).toEqual([
      { type: 'attempt_started', attempt: 1, deployment: 'main', platform: 'openai', ownMs: 0 },
      { type: 'first_text', afterMs: 20 },
      {
        type: 'attempt_ended',
        attempt: 1,
        deployment: 'main',
        platform: 'openai',
        end: { deployment: 'main', startMs: 0, durationMs: 40, outcome: 'done' },
        turn: 'stored',
        isComplete: true,
        exchange: { model: 'm-1', finishReason: 'stop', durationMs: 40, firstTextMs: 20 },
      },
      'settled',
    ])
    expect(events[0]?.call).toMatchObject({ requestId: 'request-1', kind: 'chat', agent: 'openai' })
  })

  test("of one whose platform was asked for a conversation first, which is not the gateway's own share", async () => {
    const enter = async (): Promise<Entered> => {
      await new Promise((resolve) => setTimeout(resolve, 30))
      return { agentCall: callOf(agentOf('dify')), turn: turnOf(), askedPlatform: true }
    }
    const { reply, platform, events } = start('dify', { enter })
    const reading = readAll(reply)
    await vi.advanceTimersByTimeAsync(30)
    expect(stepsOf(events)).toEqual([
      {
        type: 'attempt_started',
        attempt: 1,
        deployment: 'main',
        platform: 'dify',
        conversation: undefined,
        ownMs: undefined,
        queuedMs: undefined,
      },
    ])
    platform.cancel(new UpstreamError('agent_truncated'))
    await reading
  })

  test('of one that is refused and sent again, whose first turn the platform has not taken', async () => {
    const anew = callOf(agentOf('dify'))
    const knownFiles = {
      mayBeForgotten: () => true,
      forget: async () => undefined,
      bringAnew: async () => anew,
    }
    const { reply, platform, events } = start('dify', { knownFiles })
    const reading = readAll(reply)
    platform.body(400, { code: 'invalid_param', message: 'Invalid upload file' })
    await vi.advanceTimersByTimeAsync(0)
    platform.events({ event: 'message', task_id: 't', answer: 'Hi' })
    platform.cancel(new UpstreamError('agent_truncated'))
    await reading
    expect(stepsOf(events)).toMatchObject([
      { type: 'attempt_started', attempt: 1 },
      { type: 'attempt_ended', attempt: 1, turn: 'none', failure: { reason: 'agent_rejected_input' } },
      { type: 'attempt_started', attempt: 2, ownMs: undefined },
      { type: 'first_text' },
      { type: 'attempt_ended', attempt: 2, turn: 'stored', failure: { reason: 'agent_truncated' } },
      'settled',
    ])
  })

  test('of one that ends before its request is sent', async () => {
    const { reply, events } = start('openai')
    reply.end('client_gone')
    await readAll(reply)
    expect(stepsOf(events)).toEqual(['settled'])
  })
})
