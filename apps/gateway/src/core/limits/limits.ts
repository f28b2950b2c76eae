import type { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { withDeadline } from '#core/deadline.ts'

export interface LimitRule {
  readonly points: number
  readonly windowSeconds: number
}

export interface LimitRules {
  readonly chat: LimitRule
  readonly upload: LimitRule
  readonly agents: LimitRule
  /** Failed logins for a username from one address. */
  readonly login: LimitRule
  /** Failed logins from one address. */
  readonly loginAddress: LimitRule
  /** Refused API keys from one address. */
  readonly refusedKeys: LimitRule
}

/** Where a caller stands in its window; what the `RateLimit` headers say. */
export interface LimitVerdict {
  readonly allowed: boolean
  readonly policy: string
  readonly points: number
  readonly windowSeconds: number
  readonly remaining: number
  readonly resetSeconds: number
}

/** A fixed window that starts at the first take. */
export interface Limiter {
  /** Takes one point; `points` lowers the rule for this caller, never raises it. */
  take(key: string, points?: number): Promise<LimitVerdict>
  /** Whether a take would be allowed, without taking. */
  peek(key: string): Promise<LimitVerdict>
}

export type Limits = { readonly [Name in keyof LimitRules]: Limiter }

/** How processes that enforce the same limits share them. */
export interface LimitSharing {
  /** Where there is one, the limits hold across processes. */
  readonly redis?: Redis
  /** Processes that share the limits where no store does: each enforces its part. */
  liveProcesses(): number
  readonly observer: { storeAnswers(answers: boolean, error?: unknown): void }
}

const ALONE: LimitSharing = { liveProcesses: () => 1, observer: { storeAnswers: () => undefined } }

export function createLimits(rules: LimitRules, sharing: LimitSharing = ALONE): Limits {
  const shared = sharing.redis && createSharedStore(sharing.redis, sharing.observer)
  const limiter = (policy: string, rule: LimitRule) => createLimiter(policy, rule, sharing, shared)
  return {
    chat: limiter('chat', rules.chat),
    upload: limiter('upload', rules.upload),
    agents: limiter('agents', rules.agents),
    login: limiter('login', rules.login),
    loginAddress: limiter('login-address', rules.loginAddress),
    refusedKeys: limiter('refused-keys', rules.refusedKeys),
  }
}

type Count = Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>

function createLimiter(
  policy: string,
  rule: LimitRule,
  { redis, liveProcesses }: LimitSharing,
  shared: SharedStore | undefined,
): Limiter {
  const options = { keyPrefix: `trunkline:${policy}`, points: rule.points, duration: rule.windowSeconds }
  const memory = new RateLimiterMemory(options)
  const store = redis && new RateLimiterRedis({ ...options, storeClient: redis })

  const verdict = (count: Count | null, points: number): LimitVerdict => {
    const taken = count?.consumedPoints ?? 0
    return {
      allowed: taken <= points,
      policy,
      points,
      windowSeconds: rule.windowSeconds,
      remaining: Math.max(0, points - taken),
      resetSeconds: count === null ? rule.windowSeconds : Math.max(1, Math.ceil(count.msBeforeNext / 1000)),
    }
  }

  /** The store's answer to the whole limit, else the memory's to this process's part of it. */
  async function ask(
    question: (limiter: RateLimiterMemory | RateLimiterRedis) => Promise<Count | null>,
    points: number,
  ): Promise<LimitVerdict> {
    const known = store && shared && (await shared.ask(() => question(store)))
    if (known !== undefined) return verdict(known.count, points)
    return verdict(await question(memory), Math.max(1, Math.floor(points / liveProcesses())))
  }

  return {
    take: (key, points = rule.points) =>
      ask((limiter) => limiter.consume(key).catch(refusal), Math.min(points, rule.points)),
    async peek(key) {
      const current = await ask((limiter) => limiter.get(key), rule.points)
      return { ...current, allowed: current.remaining > 0 }
    },
  }
}

/** The library rejects with its result where the points are used up, and with an Error where the store failed. */
function refusal(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason
  throw reason
}

interface SharedStore {
  /** Undefined where the store is down or slow. */
  ask(question: () => Promise<Count | null>): Promise<{ count: Count | null } | undefined>
}

/** A store that answers later than this is not waited for. */
const ANSWER_WITHIN_MS = 200
/** After a failure the store is left alone for so long: not every call has to find out anew. */
const LEFT_ALONE_MS = 500

function createSharedStore(redis: Redis, observer: LimitSharing['observer']): SharedStore {
  let leftAloneUntilMs = 0
  let answers = true

  const tell = (isAnswering: boolean, error?: unknown) => {
    if (isAnswering === answers) return
    answers = isAnswering
    observer.storeAnswers(isAnswering, error)
  }

  return {
    async ask(question) {
      if (redis.status !== 'ready' || performance.now() < leftAloneUntilMs) {
        tell(false)
        return undefined
      }
      try {
        const count = await withDeadline(ANSWER_WITHIN_MS, question())
        tell(true)
        return { count }
      } catch (error) {
        leftAloneUntilMs = performance.now() + LEFT_ALONE_MS
        tell(false, error)
        return undefined
      }
    },
  }
}
