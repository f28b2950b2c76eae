import { withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { hadNoEffect, isUnavailable } from '#core/base/errors/connection-error.ts'
import { type ErrorReason, Problem } from '#core/base/errors/errors.ts'
import { partOf } from '#core/base/errors/problem-of.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'
import { wasNeverSent } from '#core/database/never-sent.ts'
import { addressDetail } from '#core/requests/allowed-addresses.ts'
import type { Traced } from '#core/requests/request-trace.ts'
import type { Admission, AdmissionAnswer, Admitted, PendingAdmission } from './admission-row.ts'
import { ADMIT, ADMIT_ONE } from './admission-sql.ts'
import { ADMIT_WITHIN_MS, createAdmissions, createLockedRows } from './admissions.ts'
import { ADMIT_KEPT, FREE_LATE } from './claiming-admission-sql.ts'
import { knownPeriod, periodEnd } from './quota-period.ts'
import { ROLLUP_BOUNDS, type RollupBounds } from './roll-up-sql.ts'
import { type Settlement, settlementRow } from './settlement/settlement-row.ts'
import { settlements } from './settlement/settlement-sql.ts'
import type { SettlementWait } from './settlement/settlement-waits.ts'
import { type SettlementBacklog, Settler } from './settlement/settler.ts'

export type LedgerStatement = 'admit' | 'settle'

export interface LedgerObserver {
  batch(statement: LedgerStatement, calls: readonly Traced[], ms: number): void
  /** A statement succeeded after some had failed. */
  recovered?(statement: LedgerStatement): void
  /** A statement failed; it may be repeated. */
  batchFailed?(statement: LedgerStatement, error: unknown, calls: readonly Traced[], ms: number): void
  /** The database refused a value of a call that has ended: it is settled as `interrupted`, without its texts. */
  settleFailed(error: unknown, callId: string): void
}

export interface LedgerDeps {
  /** Writes the ends of calls, one statement at a time. */
  readonly sql: Sql
  /** Runs the admissions, one statement at a time; defaults to {@link LedgerDeps.sql}. */
  readonly admissionSql?: Sql
  /**
   * Runs those of batches with an `Idempotency-Key`, which need tables that other calls do not wait for; defaults to
   * {@link LedgerDeps.admissionSql}.
   */
  readonly keptAdmissionSql?: Sql
  /** Runs those of calls whose rows are locked, one statement at a time; defaults to {@link LedgerDeps.admissionSql}. */
  readonly lockedAdmissionSql?: Sql
  /** Settles the calls of other processes; defaults to {@link LedgerDeps.sql}. */
  readonly upkeepSql?: Sql
  readonly runtime: Runtime
  readonly instanceId: string
  readonly observer: LedgerObserver
  /** Defaults to {@link ROLLUP_BOUNDS}. */
  readonly bounds?: RollupBounds
}

/**
 * Admits and settles calls. The database decides about admission, and nothing is sent to a platform before the admission of
 * its call is committed.
 */
export interface Ledger {
  /**
   * Checks the key and the quota, counts the call and inserts its row. A call whose `Idempotency-Key` stands for an earlier one
   * is attached to that instead, which needs no quota. A call that meets an open pause is not admitted as long as it claims none.
   *
   * @throws Problem with status 401, 403 or 429 if the call is rejected, `unavailable` if the database does not answer in time,
   * `idempotency_mismatch` if the earlier call had another request
   */
  admit(admission: Admission): Promise<Admitted>
  /** Writes the end of a call in the background, and repeats that until the database accepts it or {@link Ledger.close} gives up. */
  settle(settlement: Settlement): void
  /**
   * Begins to wait for the settlement of a call of this process. Settlements that were written before are not remembered, so
   * begin to wait, then read the row, and await {@link SettlementWait.written} only if the row is still open.
   */
  awaitSettlement(callId: string): SettlementWait
  /** The calls that have ended and whose settlement is not written yet. */
  backlog(): SettlementBacklog
  /** Those of them that have waited for so long, the oldest first and at most `countMax`. */
  lateSettlements(waitedMs: number, countMax: number): string[]
  /**
   * Settles as `interrupted` the calls that earlier processes left open; returns how many. To be called only by a process
   * that is the sole user of its database, because it does not check whether the other processes are alive.
   */
  settlePredecessors(): Promise<number>
  /** Settles as `interrupted` the open calls of dead processes, as long as this one is alive; returns how many. */
  settleDead(leaseMs: number): Promise<number>
  /** Waits until every settlement is written, at most `timeoutMs`, and stops retrying; returns how many are not written. */
  close(timeoutMs: number): Promise<number>
}

/**
 * So many ends wait only where the database takes admissions but not their ends. Further calls are refused then, since each would hold
 * memory until it is settled.
 */
const UNWRITTEN_MAX = 50_000

export function createLedger(deps: LedgerDeps): Ledger {
  const failing = new Set<LedgerStatement>()
  const { sql, admissionSql = sql, runtime, instanceId, observer } = deps
  const { keptAdmissionSql = admissionSql, lockedAdmissionSql = admissionSql, upkeepSql = sql } = deps
  const { SETTLE, SETTLE_DEAD, SETTLE_PREDECESSORS } = settlements(deps.bounds ?? ROLLUP_BOUNDS)

  async function run<Row>(on: Sql, { statement, text, rows, calls, rowWaitMs }: LedgerBatch): Promise<Row[]> {
    const startedMs = runtime.elapsedMs()
    try {
      const values = [JSON.stringify(rows), instanceId]
      if (rowWaitMs !== undefined) values.push(String(rowWaitMs))
      const result = await on.query<Row>(text, values)
      observer.batch(statement, calls, runtime.elapsedMs() - startedMs)
      if (failing.size > 0) observer.recovered?.(statement)
      failing.delete(statement)
      return result
    } catch (error) {
      failing.add(statement)
      observer.batchFailed?.(statement, error, calls, runtime.elapsedMs() - startedMs)
      throw error
    }
  }

  const lockedRows = createLockedRows(lockedAdmissionSql)
  const admissions = { lockedRows, runtime, run }
  const [one, several] = [ADMIT_ONE, ADMIT]
  const admitPlain = createAdmissions({ ...admissions, sql: admissionSql, texts: { one, several } })
  const kept = { one: ADMIT_KEPT, several: ADMIT_KEPT }
  const admitKept = createAdmissions({ ...admissions, sql: keptAdmissionSql, texts: kept })

  const settler = new Settler({ write, writeFreeing, runtime, onReduced: observer.settleFailed })

  async function write(batch: readonly Settlement[]): Promise<void> {
    await run(sql, { statement: 'settle', text: SETTLE, rows: batch.map(settlementRow), calls: batch })
  }

  /** If the second statement fails, both are repeated, and what the first one has settled is not settled again. */
  async function writeFreeing(late: readonly Settlement[]): Promise<void> {
    await write(late)
    const startedMs = runtime.elapsedMs()
    try {
      await keptAdmissionSql.query(FREE_LATE, [JSON.stringify(late.map(({ callId }) => callId)), instanceId])
    } catch (error) {
      failing.add('settle')
      observer.batchFailed?.('settle', error, late, runtime.elapsedMs() - startedMs)
      throw error
    }
  }

  return {
    async admit(admission) {
      if (settler.waiting >= UNWRITTEN_MAX) throw new Problem('unavailable', ENDS_WAIT)
      const pending: PendingAdmission = {
        admission,
        isRefused: false,
        mayBeCounted: false,
        trace: admission.trace,
      }
      const claimsNothing = admission.kept === undefined && admission.claims === undefined
      const admit = claimsNothing ? admitPlain : admitKept
      const answer = markRejectionHandled(admit(pending))
      let decision: AdmissionAnswer | undefined
      try {
        decision = await withDeadline(ADMIT_WITHIN_MS, answer)
      } catch (cause) {
        if (!isUnavailable(cause)) throw cause
        pending.isRefused = true
        const { callId } = admission
        // The call may have been counted although its answer is late or lost. It is settled then, so that it does not stay open,
        // and its Idempotency-Key is free for the next try.
        const settleIf = (mayCount: boolean) => {
          if (!mayCount) return
          const rejected = { callId, outcome: 'rejected', reason: 'unavailable', durationMs: 0 } as const
          settler.settleLate(rejected, !claimsNothing)
        }
        answer.then(
          (late) => settleIf(late === undefined ? pending.mayBeCounted : late[0] === null && late[4] == null),
          (error: unknown) => settleIf(pending.mayBeCounted || (!wasNeverSent(error) && !hadNoEffect(error))),
        )
        throw new Problem('unavailable', { limit: partOf(cause), retryAfterSeconds: 1, cause })
      }
      if (decision === undefined) throw new Error('an admission was left out of its batch')
      const [refusal, keyId, ownerId, , attachedTo, openPauseId, generation] = decision
      if (refusal === 'pause_open') {
        if (openPauseId == null) throw new Error('an admission met a pause that it does not name')
        return { keyId, ownerId, openPauseId }
      }
      if (refusal !== null)
        throw new Problem(refusal, { detail: refusalDetail(refusal, admission, decision, runtime.now()) })
      if (attachedTo != null) return { keyId, ownerId, attachedTo }
      return { keyId, ownerId, ...(generation && { generation }) }
    },
    settle: (settlement) => settler.settle(settlement),
    awaitSettlement: (callId) => settler.awaitSettlement(callId),
    backlog: () => settler.backlog(),
    lateSettlements: (waitedMs, countMax) => settler.late(waitedMs, countMax),
    settlePredecessors: () => untilNone(() => upkeepSql.query(SETTLE_PREDECESSORS, [instanceId])),
    settleDead: (leaseMs) => untilNone(() => upkeepSql.query(SETTLE_DEAD, [instanceId, leaseMs])),
    close: (timeoutMs) => settler.close(timeoutMs),
  }
}

const ENDS_WAIT = {
  detail: 'The ends of earlier calls wait for the database.',
  limit: 'database',
  retryAfterSeconds: 1,
} as const

/** Repeats a statement that processes a bounded number of rows until none is left; returns how many rows there were. */
async function untilNone(work: () => Promise<readonly unknown[]>): Promise<number> {
  let done = 0
  for (;;) {
    const { length } = await work()
    if (length === 0) return done
    done += length
  }
}

/** A statement for some calls. */
interface LedgerBatch {
  readonly statement: LedgerStatement
  readonly text: string
  readonly rows: readonly unknown[]
  readonly calls: readonly Traced[]
  /** How long it waits for a row that is locked; undefined where the connection decides. */
  readonly rowWaitMs?: number
}

function refusalDetail(
  refusal: ErrorReason,
  { kind, address }: Pick<Admission, 'kind' | 'address'>,
  [, , , maxApiCalls, , , , quotaPeriod]: AdmissionAnswer,
  now: Date,
): string | undefined {
  if (refusal === 'permission_denied') return `the API key needs the permission ${kind}.`
  if (refusal === 'address_denied') return addressDetail(address)
  if (refusal !== 'quota_exceeded') return undefined
  const end = periodEnd(knownPeriod(quotaPeriod ?? ''), now)?.toISOString()
  const next =
    end === undefined ? 'an administrator can raise it' : `the next ${quotaPeriod} begins at ${end}`
  return `max_api_calls of ${maxApiCalls}${end === undefined ? '' : ` a ${quotaPeriod}`} is reached; ${next}.`
}
