import {
  isConflict,
  isConnectionError,
  isStatementTimeout,
  writeObstacle,
} from '#core/base/errors/connection-error.ts'
import { changes } from '#core/base/values/changes.ts'
import { createLedger, type Ledger, type LedgerObserver } from '#core/ledger/ledger.ts'
import { logChanges } from '#ops/log-changes.ts'
import type { LedgerFailure } from '#ops/metrics/ledger-metrics.ts'
import type { Tracing } from '#ops/tracing/create-tracing.ts'
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
  const settleable = changes(
    logChanges(
      log,
      'the ends of calls are written again',
      'the ends of calls cannot be written: they are repeated until they are',
    ),
  )
  const ledger = createLedger({
    sql: lanes.settlements,
    admissionSql: lanes.admissions,
    keptAdmissionSql: lanes.keptAdmissions,
    lockedAdmissionSql: lanes.lockedAdmissions,
    upkeepSql: lanes.upkeep,
    runtime,
    instanceId: identity.id,
    bounds: config.usage,
    observer: {
      batch: tracing === undefined ? metrics.ledgerBatch : andTrace(metrics.ledgerBatch, tracing),
      recovered(statement) {
        disk.writability.written(statement)
        if (statement === 'settle') settleable(true)
      },
      batchFailed(statement, error, calls, ms) {
        disk.writability.failed(statement, error)
        if (statement === 'settle' && !isConflict(error)) settleable(false, error)
        const cause = failureOf(error)
        metrics.ledgerBatchFailed(statement, cause, ms)
        tracing?.ledgerBatch(statement, calls, ms, cause)
      },
      settleFailed(error, call) {
        metrics.settleFailed()
        log.error(
          { err: error, call },
          'the end of a call could not be written: it is settled as interrupted, without its texts',
        )
      },
    },
  })
  metrics.watchSettlements(ledger)
  return ledger
}

function andTrace(count: LedgerObserver['batch'], tracing: Tracing): LedgerObserver['batch'] {
  return (statement, calls, ms) => {
    count(statement, calls, ms)
    tracing.ledgerBatch(statement, calls, ms)
  }
}

/** Why a statement of the ledger failed, for the metric. */
function failureOf(error: unknown): LedgerFailure {
  const obstacle = writeObstacle(error)
  if (obstacle !== undefined) return obstacle
  if (isConflict(error)) return 'conflict'
  if (isStatementTimeout(error)) return 'timeout'
  return isConnectionError(error) ? 'connection' : 'other'
}
