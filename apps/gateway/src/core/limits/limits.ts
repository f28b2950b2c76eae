import type { Redis } from 'ioredis'
import { fail } from '#core/errors.ts'
import { createSharedStore } from './shared-limit.ts'
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

/** Receives where the caller stands, whether or not the call is then refused, so that a face can send it as headers. */
export type OnLimit = (verdict: LimitVerdict) => void

/** A fixed window that starts at the first take. */
export interface Limiter {
  /** Takes one point; `perMinute`, whatever the rule's window, lowers the rule for this caller and never raises it. */
  take(key: string, perMinute?: number): Promise<LimitVerdict>
  /** Gives back a point that was taken for what turned out to cost nothing. */
  giveBack(key: string): Promise<void>
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
    reports: limiter('reports', rules.reports),
    calls: limiter('calls', rules.calls),
    login: limiter('login', rules.login),
    loginAddress: limiter('login-address', rules.loginAddress),
    refusedKeys: limiter('refused-keys', rules.refusedKeys),
  }
}

/**
 * Counts in Redis where there is one, and keeps in memory what has been counted. When Redis goes away in the middle of a
 * window, the window goes on from there; what passes without Redis is added to its count when it is back.
 */
function createLimiter(
  policy: string,
  rule: LimitRule,
  { liveProcesses }: LimitSharing,
  store: ReturnType<typeof createSharedStore> | undefined,
): Limiter {
  const { windowSeconds } = rule
  const windows = createWindows(windowSeconds)
  const shared = store?.(policy, windowSeconds, windows)

  const verdict = (allowed: boolean, points: number, remaining: number, msLeft: number): LimitVerdict => ({
    allowed,
    policy,
    points,
    windowSeconds,
    remaining: Math.max(0, remaining),
    resetSeconds: Math.max(1, Math.ceil(msLeft / 1000)),
  })

  /**
   * Each live process may let an equal part of the remaining points pass. So every call that passes here takes one point for
   * each of them, as if the others let one pass too.
   */
  async function takeAlone(key: string, points: number): Promise<LimitVerdict> {
    const window = windows.open(key)
    const live = liveProcesses()
    // Where there are more processes than points, each of them still lets the first call pass.
    const most = Math.max(points, live)
    const { consumedPoints, msBeforeNext } = await windows.counts.penalty(key, live)
    const allowed = consumedPoints <= most
    if (allowed) window.own += 1
    else await windows.counts.reward(key, live)
    const remaining = Math.floor((most - consumedPoints) / live)
    return verdict(allowed, Math.floor(most / live), remaining, msBeforeNext)
  }

  return {
    async take(key, perMinute = Infinity) {
      const points = Math.min(rule.points, Math.max(1, Math.floor((perMinute * windowSeconds) / 60)))
      const known = await shared?.take(key, points)
      if (known === undefined) return takeAlone(key, points)
      return verdict(known.isAllowed, points, points - known.count, known.msLeft)
    },
    async giveBack(key) {
      const window = windows.find(key)
      if (window === undefined) return
      window.own -= 1
      if ((await shared?.send(key)) === undefined) await windows.counts.reward(key, liveProcesses())
    },
  }
}

/**
 * Takes one point and reports the verdict before it refuses.
 *
 * @throws Problem `rate_limited`
 */
export async function requirePoint(limiter: Limiter, key: string, onLimit?: OnLimit): Promise<void> {
  const verdict = await limiter.take(key)
  onLimit?.(verdict)
  if (!verdict.allowed) fail('rate_limited', { retryAfterSeconds: verdict.resetSeconds })
}

/** A limit in points a minute, for what is said of a key: at least 1, since no limit lets nothing pass. */
export function perMinute({ points, windowSeconds }: LimitRule): number {
  return Math.max(1, Math.floor((points * 60) / windowSeconds))
}
