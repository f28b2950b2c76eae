import type { Agent, HeaderReader, HelperCall } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { DeadlineError, withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import { OpeningFailed } from './opening-failed.ts'
import { UpstreamError } from './upstream-error.ts'

/** How long a card is waited for; a call waits no longer than its agent's time to the first byte. */
const WITHIN_MS = 10_000
/** A usual card has a few kilobytes. */
const BYTES_MAX = 1024 * 1024

const MINUTE_MS = 60_000
/** Kept at least so long, whatever the server says, so that no server makes the gateway ask before each call. */
const KEPT_MS_MIN = MINUTE_MS
const KEPT_MS_MAX = 24 * 60 * MINUTE_MS
/** Where the server says nothing. */
const KEPT_MS_USUAL = 60 * MINUTE_MS
/** How long a card that cannot be used, and one that could not be read anew, is not asked for again. */
const REST_MS = 5_000

const UNANSWERED: ReadonlySet<ErrorReason> = new Set([
  'agent_unreachable',
  'agent_timeout',
  'agent_truncated',
])

/** The cards of agents, each kept for its deployment. */
export interface Cards {
  /**
   * The card of an agent: undefined where its adapter needs none, at once where it is known, otherwise a promise, which rejects with
   * {@link OpeningFailed} if there is no card that can be used.
   *
   * @param withinMs - how long to wait for it, where that is less than a call waits
   */
  of(agent: Agent, withinMs?: number): unknown
  /**
   * Says that a card may have changed since it was read. Returns whether it will be read anew, which it is not if that was just
   * done, or if the configuration has it.
   */
  renew(agent: Agent): boolean
}

interface KeptCard {
  /** Undefined until it has been read for the first time. */
  readonly card: { readonly ok: unknown } | { readonly failure: Failure } | undefined
  /** The request that reads it, which all calls share. */
  readonly reading: Promise<unknown> | undefined
  readonly readAtMs: number
  readonly untilMs: number
}

/** What reads a card. Its request was built by the adapter. */
type Read = (
  agent: Agent,
  call: HelperCall<{ readonly card: unknown; readonly keptMs: number }>,
  timeoutMs: number,
) => Promise<{ ok: { readonly card: unknown; readonly keptMs: number } } | { failure: Failure }>

/**
 * Reads the cards of agents when they are first needed and keeps them as long as their servers allow. A card whose time is over
 * is still used while it is read anew, so that no call waits for it twice, and if it cannot be read.
 */
export function createCards(read: Read, elapsedMs: () => number = () => performance.now()): Cards {
  // By the agent itself, not by its id: one that was replaced under its id has another card.
  const kept = new WeakMap<Agent, KeptCard>()

  /** The card that the configuration has, which is never read anew. */
  function configured(agent: Agent): KeptCard | undefined {
    const source = agent.adapter.card?.(agent)
    if (source === undefined || 'request' in source) return undefined
    const card = {
      card: source,
      reading: undefined,
      readAtMs: Number.POSITIVE_INFINITY,
      untilMs: Number.POSITIVE_INFINITY,
    }
    kept.set(agent, card)
    return card
  }

  function readAnew(agent: Agent, before: KeptCard | undefined): Promise<unknown> {
    const nowMs = elapsedMs()
    const reading = request(agent).then(
      ({ ok, keptMs }) => {
        const readAtMs = elapsedMs()
        kept.set(agent, { card: { ok }, reading: undefined, readAtMs, untilMs: readAtMs + keptMs })
        return ok
      },
      (error: OpeningFailed) => {
        const readAtMs = elapsedMs()
        const usable = before?.card !== undefined && 'ok' in before.card ? before.card : undefined
        // Where no answer came the next call may get one.
        const restMs = usable === undefined && UNANSWERED.has(error.failure.reason) ? 0 : REST_MS
        const card = usable ?? { failure: error.failure }
        kept.set(agent, { card, reading: undefined, readAtMs, untilMs: readAtMs + restMs })
        throw error
      },
    )
    kept.set(agent, { card: before?.card, reading, readAtMs: nowMs, untilMs: Number.POSITIVE_INFINITY })
    return reading
  }

  async function request(agent: Agent): Promise<{ ok: unknown; keptMs: number }> {
    const call = agent.adapter.card?.(agent)
    if (call === undefined || !('request' in call))
      throw new Error(`the card of ${agent.id} is not asked for`)
    const timed: Parameters<Read>[1] = {
      replyBytesMax: BYTES_MAX,
      request: call.request,
      read(status, body, header) {
        const result = call.read(status, body, header)
        return 'ok' in result ? { ok: { card: result.ok, keptMs: keptMsOf(header) } } : result
      },
    }
    const result = await read(agent, timed, Math.min(WITHIN_MS, agent.timeouts.firstByteMs)).catch(
      (error: unknown) => {
        if (error instanceof UpstreamError) throw new OpeningFailed(unreadable(error.failure))
        throw error
      },
    )
    if ('failure' in result) throw new OpeningFailed(unreadable(result.failure))
    return { ok: result.ok.card, keptMs: result.ok.keptMs }
  }

  return {
    of(agent, withinMs) {
      if (agent.adapter.card === undefined) return undefined
      const known = kept.get(agent) ?? configured(agent)
      const reading =
        known === undefined || known.untilMs <= elapsedMs()
          ? markRejectionHandled(readAnew(agent, known))
          : known.reading
      if (known?.card !== undefined && 'ok' in known.card) return known.card.ok
      if (reading === undefined) return unusable(known?.card?.failure ?? { reason: 'agent_unreachable' })
      return withinMs === undefined ? reading : withDeadline(withinMs, reading).catch(inTime)
    },
    renew(agent) {
      const known = kept.get(agent)
      if (known === undefined) return false
      if (known.reading !== undefined) return true
      // The time of a card in the configuration is infinite, so it is never old enough.
      if (elapsedMs() - known.readAtMs < REST_MS) return false
      kept.delete(agent)
      return true
    },
  }
}

/** Nothing of the call itself has been sent. */
function unreadable(failure: Failure): Failure {
  const note = ['the card of the agent cannot be used', failure.note].filter(Boolean).join(': ')
  return { ...failure, turn: 'none', note }
}

function inTime(error: unknown): never {
  throw error instanceof DeadlineError ? new OpeningFailed(unreadable({ reason: 'agent_timeout' })) : error
}

function unusable(failure: Failure): Promise<never> {
  return markRejectionHandled(Promise.reject(new OpeningFailed(unreadable(failure))))
}

/** How long a card is kept, by its `Cache-Control`. */
function keptMsOf(header: HeaderReader): number {
  const control = header('cache-control') ?? ''
  const seconds = /(?:^|[\s,])max-age="?(\d{1,10})/i.exec(control)?.[1]
  const isFleeting = /(?:^|[\s,])no-(?:store|cache)/i.test(control)
  const ms = isFleeting ? 0 : seconds === undefined ? KEPT_MS_USUAL : Number(seconds) * 1_000
  return Math.min(Math.max(ms, KEPT_MS_MIN), KEPT_MS_MAX)
}
