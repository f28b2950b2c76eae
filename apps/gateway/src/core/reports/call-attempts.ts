import { isObject } from '#core/base/values/json.ts'
import type { CallOutcome } from '#core/ledger/call-kinds.ts'

/** An attempt of a call, as the ledger lists it. */
export interface ListedAttempt {
  readonly deployment: string
  readonly startMs: number
  readonly durationMs: number
  /** A {@link CallOutcome}, or the word of a newer version. */
  readonly outcome: CallOutcome | (string & {})
  readonly reason: string | null
  readonly platformStatus: number | null
}

/** Reads the list of attempts of a call. Null if the ledger has none; entries that this version does not understand are left out. */
export function attemptsOf(stored: unknown): ListedAttempt[] | null {
  return Array.isArray(stored) ? stored.flatMap((attempt) => listedAttempt(attempt) ?? []) : null
}

function listedAttempt(stored: unknown): ListedAttempt | undefined {
  if (!isObject(stored)) return undefined
  const {
    deployment,
    start_ms: startMs,
    duration_ms: durationMs,
    outcome,
    reason,
    platform_status: status,
  } = stored
  if (typeof deployment !== 'string' || typeof outcome !== 'string') return undefined
  if (!Number.isInteger(startMs) || !Number.isInteger(durationMs)) return undefined
  return {
    deployment,
    startMs: Number(startMs),
    durationMs: Number(durationMs),
    outcome,
    reason: typeof reason === 'string' ? reason : null,
    platformStatus: typeof status === 'number' && Number.isInteger(status) ? status : null,
  }
}
