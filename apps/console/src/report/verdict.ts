import { changeOf } from './change.ts'

/** What a change means; undefined where it is neither good nor bad, or may be chance. */
export type Verdict = 'better' | 'worse' | undefined

/** How many calls there were, and how many of them failed. */
export interface FailureCounts {
  readonly calls: number
  readonly failedCalls: number
}

/** Fewer say nothing, and so does a share that is hardly larger than before. */
const FAILURES_MIN = 5
const TIMES_MIN = 1.25

/**
 * Whether calls fail more or less often than before. Their number is compared with that which the calls would have had at the
 * share of before, so that more calls alone are not worse.
 */
export function judgeFailures(now: FailureCounts, before: FailureCounts): Verdict {
  if (failMore(now, before)) return 'worse'
  return failMore(before, now) ? 'better' : undefined
}

function failMore(these: FailureCounts, others: FailureCounts): boolean {
  if (others.calls === 0) return false
  const expected = (others.failedCalls / others.calls) * these.calls
  // The number of failures varies by the square root of what is expected; three times that is no chance.
  const byChance = Math.max(FAILURES_MIN, 3 * Math.sqrt(expected))
  return these.failedCalls >= Math.max(expected + byChance, expected * TIMES_MIN)
}

/** How many calls there were, and within which time 95 of 100 had their first text. */
export interface FirstTexts {
  readonly calls: number
  readonly firstChunkMs: { readonly p95: number } | null
}

/** The 95th percentile of fewer calls is a single one of them. */
const CALLS_MIN = 10
/** Below this, nobody notices that it has become longer. */
const SLOW_MS_MIN = 2_000
/** The 95th percentile depends on few calls. */
const SLOW_TIMES_MIN = 1.5

/** Whether answers begin so much later than before that an administrator should look for the cause. */
export function areSlow(now: FirstTexts, before: FirstTexts): boolean {
  if (Math.min(now.calls, before.calls) < CALLS_MIN) return false
  const [ms, msBefore] = [now.firstChunkMs?.p95 ?? 0, before.firstChunkMs?.p95 ?? Number.POSITIVE_INFINITY]
  return ms >= Math.max(SLOW_MS_MIN, msBefore * SLOW_TIMES_MIN)
}

/** Whether a percentile of a time is longer or shorter than before. */
export function judgeTime(now: number | null | undefined, before: number | null | undefined): Verdict {
  const direction = changeOf(now, before, 'percentile')?.direction
  if (direction === 'up') return 'worse'
  return direction === 'down' ? 'better' : undefined
}
