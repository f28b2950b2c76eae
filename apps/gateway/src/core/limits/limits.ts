import type { Redis } from 'ioredis'
import { fail } from '#core/errors.ts'
import { createSharedStore, type SharedWindows } from './shared-windows.ts'
import { createWindows, type Windows } from './windows.ts'

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
 * Counts in Redis where there is one, and knows here what has been counted: where Redis goes away in the middle of a window,
 * the window goes on from what was seen last, and what passes without Redis is added to its count when it is back.
 */
function createLimiter(
  policy: string,
  rule: LimitRule,
  { liveProcesses }: LimitSharing,
  share: ((policy: string, windows: Windows) => SharedWindows) | undefined,
): Limiter {
  const { windowSeconds } = rule
  const windows = createWindows(windowSeconds * 1000)
  const shared = share?.(policy, windows)

  const verdict = (allowed: boolean, points: number, remaining: number, msLeft: number): LimitVerdict => ({
    allowed,
    policy,
    points,
    windowSeconds,
    remaining: Math.max(0, remaining),
    resetSeconds: Math.max(1, Math.ceil(msLeft / 1000)),
  })

  /** This process's part of what is left of the limit, as far as it knows. */
  function takeAlone(key: string, points: number): LimitVerdict {
    const window = windows.open(key)
    const live = liveProcesses()
    const part = Math.max(1, Math.floor(points / live))
    const most = window.seen === 0 ? part : Math.floor(Math.max(0, points - window.seen) / live)
    const allowed = window.own < most
    if (allowed) window.own += 1
    return verdict(allowed, part, most - window.own, window.endsAtMs - performance.now())
  }

  return {
    async take(key, perMinute = Infinity) {
      const points = Math.min(rule.points, Math.max(1, Math.floor((perMinute * windowSeconds) / 60)))
      const known = await shared?.change(key, { take: points })
      if (known === undefined) return takeAlone(key, points)
      return verdict(known.isDone, points, points - known.count, known.msLeft)
    },
    async giveBack(key) {
      if (windows.find(key) === undefined) return
      if ((await shared?.change(key, 'give back')) !== undefined) return
      const window = windows.find(key)
      if (window !== undefined) window.own -= 1
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
