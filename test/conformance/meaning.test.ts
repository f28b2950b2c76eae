import type { Adapter } from '@trunkline/gateway/src/core/agents/adapter.ts'
import type { ChatEvent } from '@trunkline/gateway/src/core/agents/events.ts'
import { BUILT_IN } from '@trunkline/gateway/src/core/agents/registry.ts'
import { agentOf } from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'
import { CONFIGURED_CARDS } from '@trunkline/gateway/src/core/agents/upstream/configured-cards.test-support.ts'
import { EventReader } from '@trunkline/gateway/src/core/agents/upstream/event-reader.ts'
import type { Upstream } from '@trunkline/gateway/src/core/agents/upstream/upstream.ts'
import { UpstreamError } from '@trunkline/gateway/src/core/agents/upstream/upstream-error.ts'
import type { UpstreamPart } from '@trunkline/gateway/src/core/agents/upstream/upstream-reply.ts'
import { Problem } from '@trunkline/gateway/src/core/base/errors/errors.ts'
import { parseJson } from '@trunkline/gateway/src/core/base/values/json.ts'
import { parseLenientJson } from '@trunkline/gateway/src/core/base/values/lenient-json.ts'
import type { Settled } from '@trunkline/gateway/src/core/calls/call-events.ts'
import { chatOf } from '@trunkline/gateway/src/core/calls/chat.test-support.ts'
import { startReply } from '@trunkline/gateway/src/core/calls/reply.test-support.ts'
import { createItems } from '@trunkline/gateway/src/graphql/streams/chat-items.ts'
import { createCompletionEncoder } from '@trunkline/gateway/src/openai/chunks.ts'
import { ResponseEncoder } from '@trunkline/gateway/src/openai/responses/encoder.ts'
import { readRequest } from '@trunkline/gateway/src/openai/responses/request.ts'
import { echoOf } from '@trunkline/gateway/src/openai/responses/response.ts'
import { createChunkEncoder } from '@trunkline/gateway/src/rest/chat/chunks.ts'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Dice, dice, type Ending, finishOf, type Meaning, SPELLERS, sayable } from './spellings.ts'

const runs = process.env.SOAK ? { numRuns: 10_000 } : { numRuns: 150, seed: 1 }
const SOAK_TIMEOUT_MS = 10 * 60_000

const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 }

const ENDINGS: Ending[] = ['ordinary', 'ordinary', 'cut', 'filtered', 'failed', 'stopped', 'error', 'none']
const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const meaning: fc.Arbitrary<Meaning> = fc.record({
  text: words,
  reasoning: fc.oneof(fc.constant(''), words),
  ending: fc.constantFrom(...ENDINGS),
  usage: fc.boolean(),
})

/**
 * How the reply comes: as it should, with an end before its first word, with a connection that breaks after its last byte or
 * amid the text, with both an early end and such a connection, or as one body instead of a stream.
 */
const COMES = ['plain', 'plain', 'early end', 'unclean close', 'broken', 'early end, broken', 'body'] as const
type Coming = (typeof COMES)[number]

test.for(BUILT_IN)(
  '$platform: a reply means the same in whatever shape, spelling, order and pieces it is sent',
  { timeout: process.env.SOAK ? SOAK_TIMEOUT_MS : 30_000 },
  async (adapter) => {
    // A task that works is asked about for a minute.
    vi.useFakeTimers().setTimerTickMode('nextTimerAsync')
    onTestFinished(() => void vi.useRealTimers())
    await fc.assert(
      fc.asyncProperty(meaning, fc.constantFrom(...COMES), dice, async (meaning, coming, dice) => {
        const { parts, expected, run } = wireOf(adapter, meaning, coming, dice)
        const { events, reason, ends } = await readEvents(adapter, parts, run)
        expect(ends).toHaveLength(1)
        expect(reason).toBe(expected.reason)
        const failed = reason === 'agent_timeout' ? 'timeout' : 'upstream_error'
        expect(ends[0]?.outcome).toBe(reason === undefined ? 'done' : failed)
        requireFaces(events)
        if (reason !== undefined) return
        expect(textOf(events, 'text')).toBe(expected.text)
        expect(textOf(events, 'reasoning')).toBe(expected.reasoning)
        expect(events.at(-1)).toMatchObject({ type: 'end', reason: expected.finish })
        const tokens = { promptTokens: 7, completionTokens: 5, totalTokens: 12 }
        const isCounted = meaning.usage && meaning.ending !== 'none'
        expect(ends[0]?.usage).toEqual(isCounted ? expect.objectContaining(tokens) : undefined)
      }),
      runs,
    )
  },
)

interface Expected {
  readonly reason: string | undefined
  readonly text: string
  readonly reasoning: string
  readonly finish: string | undefined
}

/** The platforms whose runs are asked about after their bytes have ended. */
const ASKED: ReadonlySet<string> = new Set(['a2a', 'langgraph'])

/** The bytes of a reply as parts that the gateway reads, and what a client has to get. */
function wireOf(adapter: Adapter, meaning: Meaning, coming: Coming, dice: Dice) {
  const spell = SPELLERS[adapter.platform]
  if (spell === undefined) throw new Error(`no speller for ${adapter.platform}`)
  const { frames, body, run } = spell(meaning, dice)
  const finish = finishOf(adapter.platform, meaning.ending)
  // Of a reply that is cut, the run still works.
  const isAsked = ASKED.has(adapter.platform)
  const failure = {
    error: 'agent_error',
    failed: 'agent_error',
    stopped: 'agent_truncated',
    none: isAsked ? 'agent_timeout' : 'agent_truncated',
  }
  const reasons: Readonly<Record<string, string>> = failure
  const expected: Expected = {
    ...sayable(adapter.platform, meaning),
    reason: reasons[meaning.ending],
    finish,
  }
  const end: UpstreamPart = { kind: 'end' }
  if (coming === 'body' && body !== undefined) {
    const whole = parseJson(body) ?? parseLenientJson(body)
    const part: UpstreamPart = { kind: 'body', status: 200, body: whole, header: () => undefined }
    return { parts: [part, end], expected, run }
  }
  const ordinary = { text: 'x', reasoning: '', ending: 'ordinary', usage: false } as const
  if (coming === 'early end') {
    const early = spell(ordinary, dice).frames.filter((frame) =>
      /message_end|chat\.completed|"finish_reason":"stop"/.test(frame),
    )
    // The clean end of the bytes ends an answer that goes on after an end.
    const isWhole = early.length > 0 && meaning.ending === 'none'
    const parts = [...partsOf([...early, ...frames], dice), end]
    return { parts, expected: isWhole ? { ...expected, reason: undefined, finish: 'stop' } : expected, run }
  }
  if (coming === 'unclean close')
    return { parts: [...partsOf(frames, dice), new UpstreamError('agent_truncated')], expected, run }
  if (coming === 'broken' || coming === 'early end, broken') {
    const early = spell(ordinary, dice).frames.filter((frame) =>
      /workflow_finished|message_end|chat\.completed|"finish_reason":"stop"|\[DONE\]/.test(frame),
    )
    const ends = coming === 'broken' ? [] : early.slice(0, 1 + dice.below(2))
    const begun = spell({ ...meaning, ending: 'none' }, dice)
    const parts = [...partsOf([...ends, ...begun.frames], dice), new UpstreamError('agent_truncated')]
    return { parts, expected: { ...expected, reason: reasons.none }, run: begun.run }
  }
  return { parts: [...partsOf(frames, dice), end], expected, run }
}

/** Cuts the bytes of a stream anywhere. */
function partsOf(frames: readonly string[], dice: Dice): UpstreamPart[] {
  const bytes = Buffer.from(frames.join(''))
  const parts: UpstreamPart[] = []
  let events: Extract<UpstreamPart, { kind: 'events' }>['events'][number][] = []
  const reader = new EventReader(1_000_000, (event) => events.push(event))
  const take = () => {
    if (events.length > 0) parts.push({ kind: 'events', events })
    events = []
  }
  for (let from = 0; from < bytes.length; ) {
    const to = from + 1 + dice.below(120)
    reader.feed(bytes.subarray(from, to))
    take()
    from = to
  }
  reader.end()
  take()
  return parts
}

async function readEvents(
  adapter: Adapter,
  parts: readonly (UpstreamPart | Error)[],
  run: object | undefined,
) {
  const agent = agentOf(adapter.platform, { timeouts, retry: { attempts: 1, firstByteMs: undefined } })
  const { reply, ends } = startReply({ agent, upstream: upstreamOf(parts, run) })
  const events: ChatEvent[] = []
  let reason: string | undefined
  try {
    await reply.read((batch) => {
      events.push(...batch)
      return undefined
    })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    reason = error.reason
  }
  return { events, reason, ends: ends satisfies readonly Settled[] }
}

function upstreamOf(parts: readonly (UpstreamPart | Error)[], run: object | undefined): Upstream {
  const left = [...parts]
  return {
    cards: CONFIGURED_CARDS,
    open: () => ({
      status: 200,
      wasBegun: true,
      async next() {
        const part = left.shift() ?? { kind: 'end' }
        if (part instanceof Error) throw part
        return part
      },
      interrupt: () => undefined,
      finish: () => undefined,
      cancel: () => undefined,
    }),
    async help(_agent, call) {
      if (run === undefined) throw new Error('nothing is asked of this run')
      return call.read(200, run, () => undefined)
    },
    close: async () => undefined,
  }
}

function textOf(events: readonly ChatEvent[], type: 'text' | 'reasoning'): string {
  return events.map((event) => (event.type === type ? event.text : '')).join('')
}

const BODY = { model: 'dify', input: 'Hello' }

/** What every face sends is well-formed, piece by piece. */
function requireFaces(events: readonly ChatEvent[]): void {
  const echo = echoOf(BODY, readRequest(BODY))
  const response = new ResponseEncoder(chatOf([]), { reasoning: true, details: true, replaces: false, echo })
  const encoders = [
    createChunkEncoder(chatOf([]), { detail: true }),
    createCompletionEncoder(chatOf([]), { reasoning: true, includeUsage: true }),
    response,
  ]
  const items = createItems(chatOf([]), true)
  for (const event of events) {
    for (const encoder of encoders) expect(encoder.encode(event)).not.toMatch(/\\ud[89a-f]/)
    expect(JSON.stringify(items(event))).not.toMatch(/\\ud[89a-f]/)
  }
}
