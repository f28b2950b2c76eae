import type { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { LimitWindow, Windows } from './windows.ts'

/** A caller's count in Redis. */
export interface SharedCount {
  readonly isAllowed: boolean
  readonly count: number
  readonly msLeft: number
}

/** Observes the answers of Redis. */
export interface SharedStoreObserver {
  /** Limits are shared again, or no longer. */
  storeAnswers(answers: boolean, error?: unknown): void
  /** A command was answered after so many milliseconds. */
  answered?(ms: number): void
  /** A command was not answered in time, or with an error. */
  failed?(): void
}

/** One limit that all processes count together in Redis. */
export interface SharedLimit {
  /** Takes one of `points` points; returns undefined if Redis is down or slow. */
  take(key: string, points: number): Promise<SharedCount | undefined>
  /** Sends Redis the part of this process's count that it lacks; returns undefined if Redis is down or slow. */
  send(key: string): Promise<SharedCount | undefined>
}

/** The longest time that a call waits for Redis. */
const ANSWER_WITHIN_MS = 200
/** Redis is skipped for this time after a failure, so that not every call waits for a timeout. */
const PAUSE_MS = 500
/**
 * How much earlier a window ends in this process than in Redis, whose clock may differ slightly. Otherwise a count from the
 * last moment of a window could be carried over into the next one.
 */
const END_EARLY_MS = 50
/** The precision with which the end of a window is known, since an answer takes time. */
const END_UNCERTAIN_MS = ANSWER_WITHIN_MS + END_EARLY_MS
/**
 * How often Redis gets a `PING`, so that the operator learns about an outage without a call. A connection has
 * this time to be opened before the first time.
 */
const ASKED_EVERY_MS = 2_000
const ASKED_WITHIN_MS = 1_000
/** The most callers whose counts are sent to Redis at once when it is back. */
const SENT_AT_ONCE = 200

/** Returns a function that creates the shared limits of one Redis; all of them pause together when it fails. */
export function createSharedStore(
  redis: Redis,
  observer: SharedStoreObserver,
): (policy: string, windowSeconds: number, windows: Windows) => SharedLimit {
  /** By their policies. One whose window has another length now replaces the one before. */
  const limits = new Map<string, { readonly windows: Windows; readonly limit: SharedLimit }>()
  let pausedUntilMs = 0
  let answers = true

  const report = (isAnswering: boolean, error?: unknown) => {
    if (isAnswering === answers) return
    answers = isAnswering
    observer.storeAnswers(isAnswering, error)
  }

  async function attempt<Answer>(command: () => Promise<Answer>): Promise<Answer | undefined> {
    if (redis.status !== 'ready' || performance.now() < pausedUntilMs) {
      report(false)
      return undefined
    }
    const sentAtMs = performance.now()
    try {
      const answer = await withDeadline(ANSWER_WITHIN_MS, markRejectionHandled(command()))
      observer.answered?.(performance.now() - sentAtMs)
      report(true)
      return answer
    } catch (error) {
      observer.failed?.()
      pausedUntilMs = performance.now() + PAUSE_MS
      report(false, error)
      return undefined
    }
  }

  /** Shares what this process has counted alone, even for callers that do not call it again. */
  async function sendAll(): Promise<void> {
    for (const { windows, limit } of limits.values()) {
      const callers = windows.callers()
      while (callers.length > 0) {
        const sent = await Promise.all(callers.splice(0, SENT_AT_ONCE).map(limit.send))
        // Redis has failed again. The rest is sent with the next call of the same caller.
        if (sent.includes(undefined)) return
      }
    }
  }

  /** Only reports: a slow answer to this does not make calls skip Redis. */
  async function ask(): Promise<void> {
    if (performance.now() < pausedUntilMs) return
    try {
      if (redis.status !== 'ready') return report(false)
      await withDeadline(ASKED_WITHIN_MS, markRejectionHandled(redis.ping()))
      report(true)
    } catch (error) {
      report(false, error)
    }
  }
  const asking = setInterval(() => void markRejectionHandled(ask()), ASKED_EVERY_MS).unref()
  redis.on('end', () => clearInterval(asking))

  redis.on('ready', () => {
    pausedUntilMs = 0
    void markRejectionHandled(sendAll())
  })

  return (policy, windowSeconds, windows) => {
    const keyPrefix = `trunkline:limit:${policy}`
    const counts = new RateLimiterRedis({ storeClient: redis, points: 0, duration: windowSeconds, keyPrefix })

    /** Sends Redis the part of this process's count that it lacks, and takes a point if `points` is given. */
    async function update(key: string, points?: number): Promise<SharedCount | undefined> {
      const window = windows.open(key)
      const taken = points === undefined ? 0 : 1
      const sentBefore = window.sent
      const owed = window.own - sentBefore
      window.sent += owed
      const sentAtMs = performance.now()
      const answer = await attempt(() => counts.penalty(key, taken + owed))
      if (answer === undefined) {
        window.sent -= owed
        return undefined
      }
      const { msBeforeNext } = answer
      let count = answer.consumedPoints
      if (endAt(window, sentAtMs + msBeforeNext - END_EARLY_MS) === 'lost') {
        window.isRestored = true
        window.sent -= sentBefore
        count = (await update(key))?.count ?? count
      }
      if (window.isRestored) count = Math.max(count, window.own + taken + window.others)
      const isAllowed = points === undefined || count <= points
      window.others = Math.max(0, count - window.own - taken)
      window.sent += taken
      if (isAllowed) window.own += taken
      const msLeftHere = Math.max(1, window.endsAtMs - performance.now())
      await windows.counts.set(key, window.own + window.others, msLeftHere / 1000)
      // Redis has counted a call that was rejected. It is subtracted in the background, so that the caller does not wait.
      if (window.sent !== window.own) void markRejectionHandled(update(key))
      return { isAllowed, count, msLeft: msBeforeNext }
    }

    const limit: SharedLimit = { take: update, send: (key) => update(key) }
    limits.set(policy, { windows, limit })
    return limit
  }
}

/**
 * Updates the end of a window. If the new end is later than the known one, Redis has lost the window that this process knows
 * and has started another. The count cannot show this, because other processes may have given points back.
 */
function endAt(window: LimitWindow, endsAtMs: number): 'kept' | 'lost' {
  const isRunning = window.endsAtMs > performance.now()
  const isLost = isRunning && endsAtMs > window.endsAtMs + END_UNCERTAIN_MS
  window.endsAtMs = endsAtMs
  return isLost ? 'lost' : 'kept'
}
