import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Conclusion, HelperCall } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { agentOf, callOf } from '#core/agents/transcripts.test-support.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from '#core/agents/upstream/upstream-reply.ts'
import { ReplySteps } from './reply-steps.ts'

const SUBMISSION = {
  request: { method: 'POST', url: 'http://form', headers: {} },
} as unknown as HelperCall<void>
const events: UpstreamPart = { kind: 'events', events: [{ event: undefined, data: '{}' }] }
const END: UpstreamPart = { kind: 'end' }

type Result = { ok: unknown } | { failure: Failure } | UpstreamError

/** A reply of these parts, and what happened in which order. */
function stepsOf(
  parts: readonly (UpstreamPart | UpstreamError)[],
  result: Result,
  conclude?: readonly ChatEvent[],
) {
  const log: string[] = []
  const left = [...parts]
  const upstreamReply = {
    async next() {
      const part = left.shift() ?? END
      log.push(part instanceof UpstreamError ? 'broke' : part.kind)
      if (part instanceof UpstreamError) throw part
      return part
    },
  } as UpstreamReply
  const agent = agentOf('dify')
  const adapter = { ...agent.adapter, conclude: () => (conclude === undefined ? undefined : SUBMISSION) }
  const upstream = {
    async help() {
      log.push('asked')
      if (conclude !== undefined && log.includes('end')) return { ok: conclude }
      if (result instanceof UpstreamError) throw result
      return result
    },
  }
  const steps = new ReplySteps(upstream as never, {
    agent: { ...agent, adapter: adapter as never },
    call: callOf(agent),
    state: {},
    submission: SUBMISSION,
    works: () => undefined,
  })
  return { steps, log, next: () => steps.next(upstreamReply) }
}

test('the answer is sent once somebody listens, and what came before it is no part of the reply', async () => {
  const { steps, log, next } = stepsOf([events, events], { ok: undefined })
  expect(steps.turn).toBe('none')
  expect(await next()).toEqual({ kind: 'events', events: [] })
  expect([log, steps.turn]).toEqual([['events', 'asked'], 'stored'])
  expect(await next()).toBe(events)
  expect(log).toEqual(['events', 'asked', 'events'])
})

test.each<[string, Result, string]>([
  ['refuses it', { failure: { reason: 'agent_rejected_input', turn: 'none' } }, 'none'],
  ['fails', { failure: { reason: 'agent_error' } }, 'unknown'],
  ['does not answer', new UpstreamError('agent_timeout', { wasBegun: true }), 'unknown'],
  ['cannot be reached', new UpstreamError('agent_unreachable', { wasBegun: false }), 'none'],
])('a platform that %s', async (_name, result, turn) => {
  const { steps, next } = stepsOf([events], result)
  await next()
  expect([steps.failure !== undefined, steps.turn]).toEqual([true, turn])
})

test('nothing is sent where nobody can listen', async () => {
  const refused: UpstreamPart = { kind: 'body', status: 404, body: {}, header: () => undefined }
  for (const first of [refused, END, new UpstreamError('agent_unreachable')]) {
    const { steps, log, next } = stepsOf([first], { ok: undefined })
    await next().catch(() => undefined)
    expect([log.includes('asked'), steps.turn]).toEqual([false, 'none'])
  }
})

test('what a reply does not say is asked for after its end', async () => {
  const said: readonly ChatEvent[] = [{ type: 'text', text: 'Sent.' }]
  const { steps, next } = stepsOf([events, END], { ok: undefined }, said)
  await next()
  expect(steps.concluding).toEqual([])
  await next()
  expect(steps.concluding).toEqual(said)
})

describe('a run that works when its bytes have ended', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const failed: Result = { failure: { reason: 'agent_error', platformStatus: 503 } }
  const unknown: Result = { failure: { reason: 'agent_misconfigured', platformStatus: 404 } }
  const whole: Conclusion = [{ type: 'text', text: 'Done.' }]

  /** Steps after a reply that has ended, about which the platform gives these answers, the last of them for ever. */
  function stepsAfterEnd(answers: readonly (Result | UpstreamError)[]) {
    const left = [...answers]
    const askedAtMs: number[] = []
    let signsOfLife = 0
    const agent = agentOf('dify')
    const upstream = {
      async help() {
        askedAtMs.push(Date.now())
        const answer = left.length > 1 ? left.shift() : left[0]
        if (answer instanceof UpstreamError) throw answer
        return answer
      },
    }
    const steps = new ReplySteps(upstream as never, {
      agent: { ...agent, adapter: { ...agent.adapter, conclude: () => SUBMISSION } as never },
      call: callOf(agent),
      state: {},
      submission: undefined,
      works: () => {
        signsOfLife += 1
      },
    })
    const startMs = Date.now()
    const ended = steps.next({ next: async () => END } as UpstreamReply)
    return {
      steps,
      ended,
      askedAfterS: () => askedAtMs.map((atMs) => (atMs - startMs) / 1_000),
      signsOfLife: () => signsOfLife,
    }
  }

  test('is asked about until it ends, less and less often', async () => {
    const working = Array.from({ length: 6 }, (): Result => ({ ok: 'working' }))
    const { steps, ended, askedAfterS, signsOfLife } = stepsAfterEnd([...working, { ok: whole }])
    await vi.runAllTimersAsync()
    await ended
    expect([askedAfterS(), signsOfLife(), steps.concluding]).toEqual([[0, 1, 3, 7, 15, 25, 35], 6, whole])
  })

  test('is asked about again after an answer that failed, which is no sign of life', async () => {
    const outages = [failed, new UpstreamError('agent_unreachable')]
    const { steps, ended, signsOfLife } = stepsAfterEnd([{ ok: 'working' }, ...outages, { ok: whole }])
    await vi.runAllTimersAsync()
    await ended
    expect([signsOfLife(), steps.concluding]).toEqual([1, whole])
  })

  test.each<[string, readonly (Result | UpstreamError)[]]>([
    ['is not known any more', [{ ok: 'working' }, unknown]],
    ['cannot be asked about at all', [failed]],
  ])('is judged by its reply where it %s', async (_name, answers) => {
    const { steps, ended } = stepsAfterEnd(answers)
    await vi.runAllTimersAsync()
    expect(await ended).toEqual(END)
    expect(steps.concluding).toEqual([])
  })

  test('is left alone as soon as its call ends', async () => {
    const { steps, ended, askedAfterS } = stepsAfterEnd([{ ok: 'working' }])
    await vi.advanceTimersByTimeAsync(3_500)
    const left = new Error('left')
    steps.interrupt(left)
    await expect(ended).rejects.toBe(left)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(askedAfterS()).toEqual([0, 1, 3])
  })
})
