import type { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { withDeadline } from '#core/deadline.ts'
import { handled } from '#core/handled.ts'
import type { LimitWindow, Windows } from './windows.ts'

/** The answer of Redis. */
export interface SharedCount {
  readonly isAllowed: boolean
  readonly count: number
  readonly msLeft: number
}

/** One limit, as all processes count it in Redis. */
export interface SharedLimit {
  /** Takes one of so many points; undefined where Redis is down or slow. */
  take(key: string, points: number): Promise<SharedCount | undefined>
  /** Sends Redis what it does not have of this process's count; undefined where Redis is down or slow. */
  send(key: string): Promise<SharedCount | undefined>
}

/** Answers that take longer are not waited for. */
const ANSWER_WITHIN_MS = 200
/** Redis is not asked for so long after a failure, so that not every call waits for it in vain. */
const PAUSE_MS = 500
/**
 * A window ends here so much earlier than in Redis, whose clock runs a little differently. Otherwise a count from its last
 * moment could be carried over into the next window.
 */
const END_EARLY_MS = 50
/** The end of a window is known only as exactly as this, since an answer takes time. */
const END_UNCERTAIN_MS = ANSWER_WITHIN_MS + END_EARLY_MS
/** Callers whose counts are sent to Redis at a time when it is back. */
const SENT_AT_ONCE = 200

export function createSharedStore(
  redis: Redis,
  observer: { storeAnswers(answers: boolean, error?: unknown): void },
): (policy: string, windowSeconds: number, windows: Windows) => SharedLimit {
  const limits: { readonly windows: Windows; readonly limit: SharedLimit }[] = []
  let pausedUntilMs = 0
  let answers = true

  const report = (isAnswering: boolean, error?: unknown) => {
    if (isAnswering === answers) return
    answers = isAnswering
    observer.storeAnswers(isAnswering, error)
  }

  async function ask<Answer>(question: () => Promise<Answer>): Promise<Answer | undefined> {
    if (redis.status !== 'ready' || performance.now() < pausedUntilMs) {
      report(false)
      return undefined
    }
    try {
      const answer = await withDeadline(ANSWER_WITHIN_MS, handled(question()))
      report(true)
      return answer
    } catch (error) {
      pausedUntilMs = performance.now() + PAUSE_MS
      report(false, error)
      return undefined
    }
  }

  /** The other processes must learn what this one has counted alone even if nobody asks it about that caller again. */
  async function sendAll(): Promise<void> {
    for (const { windows, limit } of limits) {
      const callers = windows.callers()
      while (callers.length > 0) {
        const sent = await Promise.all(callers.splice(0, SENT_AT_ONCE).map(limit.send))
        // Redis has gone again. What it does not have is sent with the next question about the same caller.
        if (sent.includes(undefined)) return
      }
    }
  }

  redis.on('ready', () => {
    pausedUntilMs = 0
    void handled(sendAll())
  })

  return (policy, windowSeconds, windows) => {
    const keyPrefix = `trunkline:limit:${policy}`
    const counts = new RateLimiterRedis({ storeClient: redis, points: 0, duration: windowSeconds, keyPrefix })

    /** Takes a point where `points` are given, and sends what Redis does not have of this process's count. */
    async function update(key: string, points?: number): Promise<SharedCount | undefined> {
      const window = windows.open(key)
      const taken = points === undefined ? 0 : 1
      const sentBefore = window.sent
      const owed = window.own - sentBefore
      window.sent += owed
      const askedAtMs = performance.now()
      const answer = await ask(() => counts.penalty(key, taken + owed))
      if (answer === undefined) {
        window.sent -= owed
        return undefined
      }
      const { msBeforeNext } = answer
      let count = answer.consumedPoints
      if (endAt(window, askedAtMs + msBeforeNext - END_EARLY_MS) === 'lost') {
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
      // Redis has counted a call that did not pass. Nobody waits until it is taken out again.
      if (window.sent !== window.own) void handled(update(key))
      return { isAllowed, count, msLeft: msBeforeNext }
    }

    const limit: SharedLimit = { take: update, send: (key) => update(key) }
    limits.push({ windows, limit })
    return limit
  }
}

/**
 * Corrects the end of a window. A window that ends later than it should is another one: Redis has lost the one that this
 * process knows. (The count cannot show it, since the other processes may have given points back.)
 */
function endAt(window: LimitWindow, endsAtMs: number): 'kept' | 'lost' {
  const isRunning = window.endsAtMs > performance.now()
  const isLost = isRunning && endsAtMs > window.endsAtMs + END_UNCERTAIN_MS
  window.endsAtMs = endsAtMs
  return isLost ? 'lost' : 'kept'
}
