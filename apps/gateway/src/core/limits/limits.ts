import type { Redis } from 'ioredis'
import { Problem } from '#core/base/errors/errors.ts'
import type { LimitName, LimitReached } from '#core/base/errors/limit-names.ts'
import { type MaxPerKey, mostPerKey, perMinute } from './own-limits.ts'
import { createSharedStore, type SharedLimit, type SharedStoreObserver } from './shared-limit.ts'
import { createWindows } from './windows.ts'

export interface LimitRule {
  readonly points: number
  readonly windowSeconds: number
}

export interface LimitRules {
  readonly chat: LimitRule
  readonly upload: LimitRule
  readonly agents: LimitRule
  /** Reports of usage. */
  readonly reports: LimitRule
  /** Pages and exports of the ledger. */
  readonly calls: LimitRule
  /** Reads that no other limit counts. */
  readonly reads: LimitRule
  /** What a user creates, changes, resets or deletes, with all of its credentials. */
  readonly writes: LimitRule
  /** The same for administrators. */
  readonly adminWrites: LimitRule
  /** Failed logins for a username from one address. */
  readonly login: LimitRule
  /** Failed logins from one address. */
  readonly loginAddress: LimitRule
  /** Successful logins of a user from one address. */
  readonly successfulLogins: LimitRule
  /** Refused API keys from one address. */
  readonly refusedKeys: LimitRule
  /** GraphQL documents of one sender that were refused, see refused-documents.ts. */
  readonly refusedDocuments: LimitRule
}

/** The state of a caller's rate limit, from which the `RateLimit` headers are written. */
export interface LimitVerdict {
  readonly allowed: boolean
  readonly policy: string
  /** The name in the log and in the record of refusals. */
  readonly limit: LimitName
  /** What this process allows of it. */
  readonly points: number
  readonly windowSeconds: number
  /** What all processes allow together, for the record of refusals. */
  readonly whole: LimitReached
  readonly remaining: number
  readonly resetSeconds: number
}

/** Receives the state of the caller's rate limit, whether or not the call is then rejected, so that a face can send headers. */
export type OnLimit = (verdict: LimitVerdict) => void

/** Counts points in a fixed window that starts with a caller's first point. */
export interface Limiter {
  /**
   * Takes one point.
   *
   * @param perMinute - a limit of the caller's own in points a minute, which takes the place of the rule, whatever its window
   */
  take(key: string, perMinute?: number | null): Promise<LimitVerdict>
  /** Gives back a point, for a request that turned out not to count. */
  giveBack(key: string): Promise<void>
  /**
   * When the last of the windows ends of which all points are known to be taken, in the time of `performance.now()`. Later the key
   * for {@link Limiter.isSpent} need not be made.
   */
  readonly spentUntilMs: number
  /** Whether this caller has no points left, as far as this process knows. It asks no store. */
  isSpent(key: string): boolean
}

export type Limits = { readonly [Name in keyof LimitRules]: Limiter }

/** How the processes of one installation share the limits. */
export interface LimitSharing {
  /** Counts for all processes together, if it is given. */
  readonly redis?: Redis
  /** How many processes are live. Without Redis, each of them enforces an equal part of every limit. */
  readonly processes: { readonly live: number }
  /** Is informed when Redis stops or resumes answering. */
  readonly observer: SharedStoreObserver
}

const ALONE: LimitSharing = { processes: { live: 1 }, observer: { storeAnswers: () => undefined } }

/** @param rules - read at each point that is taken, since they may change; the windows of a rule whose length changes begin anew */
export function createLimits(rules: LimitRules & MaxPerKey, sharing: LimitSharing = ALONE): Limits {
  const store = sharing.redis && createSharedStore(sharing.redis, sharing.observer)
  const limiter = (limit: LimitName, name: keyof LimitRules) =>
    new RuleLimiter({ limit, name, rules, processes: sharing.processes, store })
  return {
    chat: limiter('chat', 'chat'),
    upload: limiter('upload', 'upload'),
    agents: limiter('agents', 'agents'),
    reports: limiter('reports', 'reports'),
    calls: limiter('calls', 'calls'),
    reads: limiter('reads', 'reads'),
    writes: limiter('writes', 'writes'),
    adminWrites: limiter('admin_writes', 'adminWrites'),
    login: limiter('login', 'login'),
    loginAddress: limiter('login_address', 'loginAddress'),
    successfulLogins: limiter('successful_logins', 'successfulLogins'),
    refusedKeys: limiter('refused_keys', 'refusedKeys'),
    refusedDocuments: limiter('refused_documents', 'refusedDocuments'),
  }
}

interface RuleLimiterOptions extends Pick<LimitSharing, 'processes'> {
  readonly limit: LimitName
  readonly name: keyof LimitRules
  readonly rules: LimitRules & MaxPerKey
  readonly store: ReturnType<typeof createSharedStore> | undefined
}

/** A caller's count in its window. */
interface Counted {
  readonly points: number
  readonly remaining: number
  readonly msLeft: number
}

/**
 * Counts in Redis, if there is one, and keeps a copy of the count in memory. If Redis fails in the middle of a window, the
 * window continues from that copy; the calls that are let through meanwhile are added to the count in Redis when it is back.
 */
class RuleLimiter implements Limiter {
  spentUntilMs = 0
  readonly #options: RuleLimiterOptions
  readonly #policy: string
  #windowSeconds = 0
  #windows = createWindows(0)
  #shared: SharedLimit | undefined

  constructor(options: RuleLimiterOptions) {
    this.#options = options
    this.#policy = options.limit.replaceAll('_', '-')
  }

  // Not an async function: where there is no Redis, that would cost every call three promises more.
  take(key: string, own?: number | null): Promise<LimitVerdict> {
    const { rules, name } = this.#options
    const { windowSeconds, points: ofGateway } = this.#rule()
    const points = own
      ? Math.max(1, Math.floor((Math.min(own, mostOf(rules, name)) * windowSeconds) / 60))
      : ofGateway
    const whole = { points, windowSeconds, of: points === ofGateway ? 'gateway' : 'key' } as const
    return this.#shared === undefined
      ? this.#takeAlone(key, whole)
      : this.#takeShared(this.#shared, key, whole)
  }

  async giveBack(key: string): Promise<void> {
    this.#rule()
    const window = this.#windows.find(key)
    if (window === undefined) return
    window.own -= 1
    if ((await this.#shared?.send(key)) === undefined)
      await this.#windows.counts.reward(key, this.#options.processes.live)
  }

  isSpent(key: string): boolean {
    const { points } = this.#rule()
    const window = this.#windows.find(key)
    if (window === undefined) return false
    const { live } = this.#options.processes
    return window.own >= Math.floor(Math.max(points, live) / live) || window.own + window.others >= points
  }

  /** The rule as it is now. */
  #rule(): LimitRule {
    const { rules, name, store } = this.#options
    const rule = rules[name]
    if (rule.windowSeconds !== this.#windowSeconds) {
      this.#windowSeconds = rule.windowSeconds
      this.#windows = createWindows(rule.windowSeconds)
      this.#shared = store?.(this.#policy, rule.windowSeconds, this.#windows)
    }
    return rule
  }

  /**
   * Counts without Redis. Each live process may let an equal part of the remaining points through, so every call that is
   * let through here takes one point for each process, as if each of the others had let one through as well.
   */
  async #takeAlone(key: string, whole: LimitReached): Promise<LimitVerdict> {
    const { counts } = this.#windows
    const window = this.#windows.open(key)
    const { live } = this.#options.processes
    // If there are more processes than points, each of them still lets its first call through.
    const most = Math.max(whole.points, live)
    const { consumedPoints, msBeforeNext } = await counts.penalty(key, live)
    const allowed = consumedPoints <= most
    if (allowed) window.own += 1
    else await counts.reward(key, live)
    const remaining = Math.floor((most - consumedPoints) / live)
    return this.#verdict(allowed, whole, { points: Math.floor(most / live), remaining, msLeft: msBeforeNext })
  }

  async #takeShared(counts: SharedLimit, key: string, whole: LimitReached): Promise<LimitVerdict> {
    const { points } = whole
    const known = await counts.take(key, points)
    if (known === undefined) return this.#takeAlone(key, whole)
    const { isAllowed, count, msLeft } = known
    return this.#verdict(isAllowed, whole, { points, remaining: points - count, msLeft })
  }

  #verdict(allowed: boolean, whole: LimitReached, { points, remaining, msLeft }: Counted): LimitVerdict {
    if (remaining <= 0) this.spentUntilMs = Math.max(this.spentUntilMs, performance.now() + msLeft)
    return {
      allowed,
      policy: this.#policy,
      limit: this.#options.limit,
      points,
      windowSeconds: whole.windowSeconds,
      whole,
      remaining: Math.max(0, remaining),
      resetSeconds: Math.max(1, Math.ceil(msLeft / 1000)),
    }
  }
}

/**
 * Takes one point. `onLimit` is called before an exceeded limit throws.
 *
 * @throws Problem `rate_limited`
 */
export async function requirePoint(limiter: Limiter, key: string, onLimit?: OnLimit): Promise<void> {
  const verdict = await limiter.take(key)
  onLimit?.(verdict)
  if (!verdict.allowed) throw exceeded(verdict)
}

/** What each of the limits counts, for the message of a refusal. */
const COUNTED: { readonly [Name in LimitName]?: string } = {
  chat: 'chats with this API key',
  upload: 'uploads with this API key',
  agents: 'lists of agents',
  reports: 'reports',
  calls: 'pages of records',
  reads: 'reads',
  writes: 'changes by this user',
  admin_writes: 'changes by this administrator',
  login: 'wrong passwords for this user',
  login_address: 'failed logins from this address',
  successful_logins: 'logins of this user from this address',
  refused_keys: 'refused API keys from this address',
}

/** The refusal of what exceeds a limit. It says which one, how many it allows and when it allows more. */
export function exceeded({ limit, whole, resetSeconds }: LimitVerdict): Problem {
  const { points, windowSeconds, of } = whole
  const whose = of === 'key' ? "The API key's own limit" : 'The limit'
  const most = `at most ${points} ${COUNTED[limit] ?? 'requests'} in ${windowSeconds} seconds`
  const detail = `${whose} \`${limit}\` is reached: ${most}. Try again in ${resetSeconds} seconds.`
  return new Problem('rate_limited', { detail, limit, reached: whole, retryAfterSeconds: resetSeconds })
}

function mostOf(rules: LimitRules & MaxPerKey, name: keyof LimitRules): number {
  return name === 'chat' || name === 'upload' ? mostPerKey(rules, name) : perMinute(rules[name])
}
