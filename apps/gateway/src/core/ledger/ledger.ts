import { setImmediate as turnOver } from 'node:timers/promises'
import { AgedCount, type Period } from '#core/base/async/aged-count.ts'
import { type Batcher, createBatcher } from '#core/base/async/batcher.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { sleep } from '#core/base/async/sleep.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import type { Sql } from '#core/database/database.ts'
import { wasNeverSent } from '#core/database/never-sent.ts'
import {
  isConnectionError,
  isDiskFull,
  isLostConnection,
  isStatementTimeout,
} from '#core/errors/connection-error.ts'
import { type ErrorReason, Problem } from '#core/errors/errors.ts'
import { partOf } from '#core/errors/problem-of.ts'
import type { Traced } from '#core/requests/request-trace.ts'
import {
  type Admission,
  type AdmissionAnswer,
  type Admitted,
  admissionRow,
  attachedTo,
} from './admission-row.ts'
import { ADMIT, ADMIT_ONE } from './admission-sql.ts'
import { ADMIT_KEPT, FREE_LATE } from './claiming-admission-sql.ts'
import { ROLLUP_BOUNDS, type RollupBounds } from './roll-up-sql.ts'
import { type Settlement, settlementRow } from './settlement-row.ts'
import { settlements } from './settlement-sql.ts'
import { type SettlementWait, SettlementWaits } from './settlement-waits.ts'

export type LedgerStatement = 'admit' | 'settle'

/** Settlements of this process that are not written yet. */
export interface SettlementBacklog {
  readonly waiting: number
  /** For how long the oldest has waited; 0 if none does. */
  readonly oldestMs: number
}

export interface LedgerObserver {
  batch(statement: LedgerStatement, calls: readonly Traced[], ms: number): void
  /** A statement failed; it may be repeated. */
  batchFailed?(statement: LedgerStatement, error: unknown, calls: readonly Traced[], ms: number): void
  settleFailed(error: unknown): void
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
  /** Writes the end of a call in the background; retries until the database accepts it or {@link Ledger.close} gives up. */
  settle(settlement: Settlement): void
  /**
   * Begins to wait for the settlement of a call of this process. Settlements that were written before are not remembered, so
   * begin to wait, then read the row, and await {@link SettlementWait.written} only if the row is still open.
   */
  awaitSettlement(callId: string): SettlementWait
  /** The calls that have ended and whose settlement is not written yet. */
  backlog(): SettlementBacklog
  /**
   * Settles as `interrupted` the calls that earlier processes left open; returns how many. To be called only by a process
   * that is the sole user of its database, because it does not check whether the other processes are alive.
   */
  settlePredecessors(): Promise<number>
  /** Settles as `interrupted` the open calls of dead processes, as long as this one is alive; returns how many. */
  settleDead(leaseMs: number): Promise<number>
  /** Waits until every settlement is written, at most `timeoutMs`, and stops retrying. */
  close(timeoutMs: number): Promise<void>
}

const ADMIT_WITHIN_MS = 2_000
const RETRY_AFTER_MS = 100
/** The longest delay between retries of a settlement that times out even by itself, for example behind a lock. */
const RETRY_SLOW_AFTER_MS_MAX = 30_000
/** On a full disk every failed statement leaves something behind as well. */
const RETRY_FULL_AFTER_MS_MAX = 5_000
/**
 * Batches of this size occur in a process with thousands of calls a second. Its processor is the bottleneck then, so the next
 * batch is gathered for longer: fewer, larger statements save processor time and add little latency.
 */
const BUSY_SIZE = 12
const BUSY_GATHER_MS = 2
/** No client waits for a settlement, and a statement and its rollups cost the same for one call as for fifty. */
const SETTLE_EVERY_MS = 20
/** The times after which the settlement of a call whose admission was not answered is repeated. */
const LATE_SETTLEMENTS_MS = [2_000, 4_000, 8_000, 30_000]

export function createLedger(deps: LedgerDeps): Ledger {
  const { sql, admissionSql = sql, runtime, instanceId, observer } = deps
  const { keptAdmissionSql = admissionSql, upkeepSql = sql } = deps
  const { SETTLE, SETTLE_DEAD, SETTLE_PREDECESSORS } = settlements(deps.bounds ?? ROLLUP_BOUNDS)
  let closing = false

  const timed = async <Row>(
    statement: LedgerStatement,
    on: Sql,
    { text, rows, calls }: { text: string; rows: readonly unknown[]; calls: readonly Traced[] },
  ) => {
    const startedMs = runtime.elapsedMs()
    try {
      const result = await on.query<Row>(text, [JSON.stringify(rows), instanceId])
      observer.batch(statement, calls, runtime.elapsedMs() - startedMs)
      return result
    } catch (error) {
      observer.batchFailed?.(statement, error, calls, runtime.elapsedMs() - startedMs)
      throw error
    }
  }

  const admissions = (on: Sql, textFor: (calls: number) => string) =>
    createBatcher<PendingAdmission, AdmissionAnswer | undefined>(
      async (batch) => {
        const pending = batch.filter(({ isRefused }) => !isRefused)
        // The batch timed out and was queued again, and all of its callers have been rejected meanwhile.
        if (pending.length === 0) return batch.map(() => undefined)
        const rows = pending.map(({ admission }, index) => admissionRow(admission, index))
        const text = textFor(pending.length)
        const send = () => timed<{ answers: AdmissionAnswer[] }>('admit', on, { text, rows, calls: pending })
        // A retry after a lost answer has the same call ids, which the statement recognizes, so each call is counted once.
        const [row] = await retryLost(send, runtime)
        const answers = row?.answers ?? []
        const answerOf = new Map(pending.map((each, index) => [each, answers[index]]))
        return batch.map((each) => answerOf.get(each))
      },
      {
        sizeMax: 256,
        isShared: concernsAll,
        isTooSlow: isStatementTimeout,
        // Requests that are read in one turn of the event loop share a statement; a single one is not delayed.
        gather: (lastSize) => (lastSize < BUSY_SIZE ? turnOver() : sleep(BUSY_GATHER_MS)),
      },
    )
  const admitPlain = admissions(admissionSql, (calls) => (calls === 1 ? ADMIT_ONE : ADMIT))
  const admitKept = admissions(keptAdmissionSql, () => ADMIT_KEPT)

  const settleAll: Batcher<PendingSettlement, void> = createBatcher<PendingSettlement, void>(
    async (batch) => {
      await timed('settle', sql, { text: SETTLE, rows: batch.map(settlementRow), calls: batch })
      const late = batch.filter(({ freesClaims }) => freesClaims)
      // If this fails, the batch is repeated, and what it has settled is not settled again.
      if (late.length > 0) await free(late)
      return batch.map(() => undefined)
    },
    {
      sizeMax: 1_000,
      isShared: concernsAll,
      isTooSlow: isStatementTimeout,
      gather: () => sleep(SETTLE_EVERY_MS),
    },
  )

  const waits = new SettlementWaits()
  const unwritten = new AgedCount(runtime.elapsedMs)
  let whenWritten: (() => void) | undefined

  async function free(late: readonly PendingSettlement[]): Promise<void> {
    const startedMs = runtime.elapsedMs()
    try {
      await keptAdmissionSql.query(FREE_LATE, [JSON.stringify(late.map(({ callId }) => callId)), instanceId])
    } catch (error) {
      observer.batchFailed?.('settle', error, late, runtime.elapsedMs() - startedMs)
      throw error
    }
  }

  function settle(settlement: PendingSettlement): void {
    settleWithRetries(settlement, unwritten.add())
  }

  /**
   * Settles a call of which it is unknown whether it was counted. The server may run the admission after the settlement, since
   * they have separate connections, so the settlement is repeated; what is settled already stays as it is. The delays begin when
   * the server has answered, since a server that did not respond for minutes may run the admission last.
   */
  function settleAgain(settlement: PendingSettlement, [delayMs, ...later]: readonly number[]): void {
    const { written } = waits.begin(settlement.callId)
    settle(settlement)
    if (delayMs === undefined) return
    markRejectionHandled(
      written.then(() => {
        if (!closing) setTimeout(settleAgain, delayMs, settlement, later).unref()
      }),
    )
  }

  /** Uses callbacks, because an async function would cost every call two more promises. */
  function settleWithRetries(settlement: PendingSettlement, period: Period, delayMs = RETRY_AFTER_MS): void {
    settleAll(settlement).then(
      () => written(settlement, period),
      (error: unknown) => {
        if (isConnectionError(error) && !closing) {
          const nextMs = Math.min(2 * delayMs, retryAfterMsMax(error))
          setTimeout(settleWithRetries, delayMs, settlement, period, nextMs).unref()
          return
        }
        observer.settleFailed(error)
        written(settlement, period)
      },
    )
  }

  function written({ callId }: Settlement, period: Period): void {
    waits.end(callId)
    unwritten.remove(period)
    if (unwritten.count === 0) whenWritten?.()
  }

  return {
    async admit(admission) {
      const pending = { admission, isRefused: false, trace: admission.trace }
      const claimsNothing = admission.kept === undefined && admission.claims === undefined
      const admit = claimsNothing ? admitPlain : admitKept
      const answer = markRejectionHandled(admit(pending))
      let decision: AdmissionAnswer | undefined
      try {
        decision = await withDeadline(ADMIT_WITHIN_MS, answer)
      } catch (cause) {
        if (!isConnectionError(cause)) throw cause
        pending.isRefused = true
        const { callId } = admission
        // The call may have been counted although its answer is late or lost. It is settled then, so that it does not stay open,
        // and its Idempotency-Key is free for the next try.
        const settleIf = (mayCount: boolean) => {
          if (!mayCount) return
          const rejected = { callId, outcome: 'rejected', reason: 'unavailable', durationMs: 0 } as const
          settleAgain({ ...rejected, freesClaims: !claimsNothing }, LATE_SETTLEMENTS_MS)
        }
        answer.then(
          (late) => settleIf(late !== undefined && late[0] === null && attachedTo(late) === undefined),
          (error: unknown) =>
            settleIf(!wasNeverSent(error) && !isStatementTimeout(error) && !isDiskFull(error)),
        )
        throw new Problem('unavailable', { limit: partOf(cause), retryAfterSeconds: 1, cause })
      }
      if (decision === undefined) throw new Error('an admission was left out of its batch')
      const [refusal, keyId, ownerId, maxApiCalls, , pause, generation] = decision
      if (refusal === 'pause_open') {
        if (pause == null) throw new Error('an admission met a pause that it does not name')
        return { keyId, ownerId, pause }
      }
      if (refusal !== null) throw new Problem(refusal, { detail: refusalDetail(refusal, maxApiCalls) })
      const earlier = attachedTo(decision)
      if (earlier !== undefined) return { keyId, ownerId, attachedTo: earlier }
      return { keyId, ownerId, ...(generation && { generation }) }
    },
    settle,
    awaitSettlement: (callId) => waits.begin(callId),
    backlog: () => ({ waiting: unwritten.count, oldestMs: unwritten.oldestMs }),
    settlePredecessors: () => untilNone(() => upkeepSql.query(SETTLE_PREDECESSORS, [instanceId])),
    settleDead: (leaseMs) => untilNone(() => upkeepSql.query(SETTLE_DEAD, [instanceId, leaseMs])),
    async close(timeoutMs) {
      const allWritten = new Promise<void>((resolve) => {
        if (unwritten.count === 0) resolve()
        else whenWritten = resolve
      })
      await Promise.race([allWritten, sleep(timeoutMs)])
      closing = true
    },
  }
}

/** Repeats a statement that processes a bounded number of rows until none is left; returns how many rows there were. */
async function untilNone(work: () => Promise<readonly unknown[]>): Promise<number> {
  let done = 0
  for (;;) {
    const { length } = await work()
    if (length === 0) return done
    done += length
  }
}

interface PendingAdmission extends Traced {
  readonly admission: Admission
  /** Set when the caller has been rejected because of the deadline; the admission is then no longer sent. */
  isRefused: boolean
}

interface PendingSettlement extends Settlement {
  /** Whether its `Idempotency-Key` is free again, and the pause that it has claimed open. */
  readonly freesClaims?: boolean
}

function refusalDetail(refusal: ErrorReason, maxApiCalls: number): string | undefined {
  return refusal === 'quota_exceeded' ? `max_api_calls of ${maxApiCalls} is reached.` : undefined
}

/** Whether smaller batches would fail in the same way. */
function concernsAll(error: unknown): boolean {
  return isLostConnection(error) || isDiskFull(error)
}

function retryAfterMsMax(error: unknown): number {
  if (isStatementTimeout(error)) return RETRY_SLOW_AFTER_MS_MAX
  return isDiskFull(error) ? RETRY_FULL_AFTER_MS_MAX : RETRY_AFTER_MS
}

/** Repeats a statement whose connection was lost, until shortly before the deadline of admissions. */
async function retryLost<Result>(work: () => Promise<Result>, runtime: Runtime): Promise<Result> {
  const deadlineMs = runtime.elapsedMs() + ADMIT_WITHIN_MS - RETRY_AFTER_MS
  let lost: unknown
  for (;;) {
    try {
      return await work()
    } catch (error) {
      // The statement whose answer was lost may commit during its retry, which then fails on the duplicate call ids.
      const isRetryable = isLostConnection(error) || (lost !== undefined && isDuplicate(error))
      if (!wasNeverSent(error)) lost ??= error
      if (!isRetryable || runtime.elapsedMs() >= deadlineMs) throw lost ?? error
      await sleep(RETRY_AFTER_MS)
    }
  }
}

/** PostgreSQL's code for a unique violation. */
function isDuplicate(error: unknown): boolean {
  return errorCode(error) === '23505'
}
