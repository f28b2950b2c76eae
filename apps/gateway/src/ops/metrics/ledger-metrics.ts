import type { WriteObstacle } from '#core/base/errors/connection-error.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import type { Instruments } from './instruments.ts'

/** Why a statement of the ledger failed: by an outage, its time limit, another transaction, or a database that takes no writes. */
export type LedgerFailure = 'connection' | 'timeout' | 'conflict' | WriteObstacle | 'other'

/** The last check of the counters against the ledger. */
export interface DriftCheck {
  /** How many equations did not hold. */
  readonly count: number
  /** In the database's time. */
  readonly checkedAt: Date
}

const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
const BATCH_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10, 30]

export function createLedgerMetrics({ counter, gauge, histogram }: Instruments) {
  let drift: DriftCheck | undefined
  let ledger: Pick<Ledger, 'backlog'> | undefined
  const size = histogram(
    'trunkline_ledger_batch_size',
    'Calls that one statement of the ledger carried.',
    ['statement'],
    BATCH_SIZES,
  )
  const seconds = histogram(
    'trunkline_ledger_batch_duration_seconds',
    'Time of one statement of the ledger, also of one that failed.',
    ['statement'],
    BATCH_SECONDS,
  )
  const failures = counter(
    'trunkline_ledger_batch_failures_total',
    'Statements of the ledger that failed and may have been repeated, by cause.',
    ['statement', 'cause'],
  )
  const settleFailures = counter(
    'trunkline_settle_failures_total',
    'Ends of calls of which the ledger refused a value; the calls are settled as interrupted.',
  )
  gauge(
    'trunkline_settlements_waiting',
    'Calls that have ended and whose end is not written to the ledger yet; a few at any time are normal.',
    () => ledger?.backlog().waiting ?? 0,
  )
  gauge(
    'trunkline_oldest_unsettled_call_seconds',
    'For how long the oldest of these has waited; 0 if there is none, of several workers the worst.',
    () => (ledger?.backlog().oldestMs ?? 0) / 1000,
    'max',
  )
  const repliesLost = counter(
    'trunkline_replies_lost_total',
    'Replies of kept calls that are not stored any more, because they are too large or could not be stored in time.',
  )
  // Absent until the first check, because 0 would say that everything adds up.
  gauge(
    'trunkline_usage_drift',
    'Equations between counters, rollups and ledger that do not hold; any value but 0 is a fault; absent before the first check.',
    () => drift?.count,
    'max',
  )
  gauge(
    'trunkline_usage_drift_checked_timestamp_seconds',
    'When the equations were last checked, by any process that shares the database; absent before the first check.',
    () => drift && drift.checkedAt.getTime() / 1000,
    'max',
  )

  return {
    ledgerBatch(statement: string, calls: readonly unknown[], ms: number): void {
      size.add(calls.length, statement)
      seconds.add(ms / 1000, statement)
    },
    ledgerBatchFailed(statement: string, cause: LedgerFailure, ms: number): void {
      failures.add(1, statement, cause)
      seconds.add(ms / 1000, statement)
    },
    settleFailed: (): void => settleFailures.add(1),
    /** Counts a kept reply that could not be kept to its end. */
    replyLost: (): void => repliesLost.add(1),
    /** Shows how many equations between counters, rollups and ledger did not hold when some process last checked them. */
    usageDrift(check: DriftCheck): void {
      drift = check
    },
    /** Shows the ended calls whose end is not written yet. */
    watchSettlements(watched: Pick<Ledger, 'backlog'>): void {
      ledger = watched
    },
  }
}
