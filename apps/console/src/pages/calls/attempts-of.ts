import type { CallDetails } from './call-details.ts'

type Attempt = NonNullable<CallDetails['attemptList']>[number]

/** An attempt as the page of a call shows it. What is not known of it is null. */
export type ShownAttempt = Omit<Attempt, 'startMs' | 'durationMs'> & {
  readonly startMs: number | null
  readonly durationMs: number | null
}

type Attempted = Pick<
  CallDetails,
  'attemptList' | 'attempts' | 'deployment' | 'outcome' | 'reason' | 'platformStatus' | 'durationMs'
>

/**
 * The attempts of a call. The gateway lists them where there were several or the only one failed; of one that succeeded at once
 * the fields of the call say the same, except when it was sent.
 */
export function attemptsOf(call: Attempted): readonly ShownAttempt[] {
  const { attemptList, attempts, deployment, outcome, reason, platformStatus, durationMs } = call
  if (attemptList !== null) return attemptList
  // The attempts of older calls were only counted, so that no more is known than where the last one was sent.
  if (attempts !== 1 || deployment === null || outcome === null) return []
  return [{ deployment, outcome, reason, platformStatus, startMs: null, durationMs }]
}
