import { isConnectionError, isDiskFull, isStatementTimeout } from '#core/errors/connection-error.ts'
import { createLedger, type Ledger } from '#core/ledger/ledger.ts'
import type { LedgerFailure } from '#ops/metrics/ledger-metrics.ts'
import type { Surroundings } from './surroundings.ts'

export function buildLedger({
  config,
  database,
  runtime,
  identity,
  metrics,
  tracing,
  disk,
  log,
}: Surroundings): Ledger {
  const { lanes } = database
  const ledger = createLedger({
    sql: lanes.settlements,
    admissionSql: lanes.admissions,
    keptAdmissionSql: lanes.keptAdmissions,
    upkeepSql: lanes.upkeep,
    runtime,
    instanceId: identity.id,
    bounds: config.usage,
    observer: {
      batch(statement, calls, ms) {
        disk.fullness.written()
        metrics.ledgerBatch(statement, calls.length, ms)
        tracing?.ledgerBatch(statement, calls, ms)
      },
      batchFailed(statement, error, calls, ms) {
        disk.fullness.failed(error)
        const cause = failureOf(error)
        metrics.ledgerBatchFailed(statement, cause, ms)
        tracing?.ledgerBatch(statement, calls, ms, cause)
      },
      settleFailed(error) {
        metrics.settleFailed()
        log.error({ err: error }, 'the end of a call could not be written')
      },
    },
  })
  metrics.watchSettlements(ledger)
  return ledger
}

/** Why a statement of the ledger failed, for the metric. */
function failureOf(error: unknown): LedgerFailure {
  if (isDiskFull(error)) return 'disk_full'
  if (isStatementTimeout(error)) return 'timeout'
  return isConnectionError(error) ? 'connection' : 'other'
}
