import { setImmediate as turnOver } from 'node:timers/promises'
import { type Batcher, createBatcher } from '#core/async/batcher.ts'
import { withDeadline } from '#core/async/deadline.ts'
import { markRejectionHandled } from '#core/async/mark-rejection-handled.ts'
import { sleep } from '#core/async/sleep.ts'
import {
  isConnectionError,
  isDiskFull,
  isLostConnection,
  isStatementTimeout,
} from '#core/database/connection-error.ts'
import type { Sql } from '#core/database/database.ts'
import { wasNeverSent } from '#core/database/never-sent.ts'
import { type ErrorReason, Problem } from '#core/errors.ts'
import type { Permission } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import { errorCode } from '#core/values/error-code.ts'
import { ADMIT, ADMIT_ONE } from './admission-sql.ts'
import { ADMIT_KEPT, FREE_LATE } from './kept-admission-sql.ts'
import { ROLLUP_BOUNDS, type RollupBounds, settlements } from './settlement-sql.ts'
import { type SettlementWait, SettlementWaits } from './settlement-waits.ts'

/** Kinds of calls, each named after the permission that it requires. */
export const CALL_KINDS = ['chat', 'upload'] as const satisfies Permission[]
export type CallKind = (typeof CALL_KINDS)[number]
export const CALL_FACES = ['rest', 'openai', 'graphql', 'responses'] as const
export type CallFace = (typeof CALL_FACES)[number]
export const OUTCOMES = [
  'done',
  'client_gone',
  'upstream_error',
  'timeout',
  'drained',
  'interrupted',
  'rejected',
] as const
export type CallOutcome = (typeof OUTCOMES)[number]

/** The outcomes that count as failures, of a platform or of the gateway. */
export const FAILED_OUTCOMES = [
  'upstream_error',
  'timeout',
  'drained',
  'interrupted',
] as const satisfies CallOutcome[]

/** A call to be admitted. Its texts contain no control characters; the callers of the ledger have checked them. */
export interface Admission {
  readonly callId: string
  readonly requestId: string
  readonly keyHash: string
  readonly kind: CallKind
  readonly face: CallFace
  readonly agent: string
  readonly app: string
  readonly endUser: string
  readonly conversation: string
  /** Present for a call with an `Idempotency-Key`. */
  readonly kept?: KeptAdmission
}

/** What the ledger notes of a kept call. */
export interface KeptAdmission {
  /** SHA-256 of the `Idempotency-Key`, in hex. */
  readonly keyHash: string
  /** SHA-256 of all that makes a request the same, in hex. */
  readonly fingerprint: string
  readonly stream: boolean
}

export interface Admitted {
  readonly keyId: string
  readonly ownerId: string
  /** The earlier call that the `Idempotency-Key` stands for. The call itself is neither counted nor run then. */
  readonly attachedTo?: string
}

/** A call that is answered from an earlier one with the same `Idempotency-Key`. */
export type AttachedCall = Required<Admitted>

/** How an attempt of a call ended. */
export interface AttemptEnd {
  readonly deployment: string
  /** When its request was sent, or when it began if it failed before that, after the dispatch of the call. */
  readonly startMs: number
  readonly durationMs: number
  /** How the call would have ended with this attempt. */
  readonly outcome: CallOutcome
  readonly reason?: ErrorReason | undefined
  readonly platformStatus?: number | undefined
}

/** An {@link AttemptEnd} as the column `attempt_list` has it. The list is short: see `ATTEMPTS_LISTED_MAX`. */
export interface StoredAttempt {
  readonly deployment: string
  readonly start_ms: number
  readonly duration_ms: number
  readonly outcome: string
  readonly reason?: string | undefined
  readonly platform_status?: number | undefined
}

/** How a call ended; written exactly once. Token counts that are unknown are absent, not zero. */
export interface Settlement {
  readonly callId: string
  readonly outcome: CallOutcome
  /** The deployment of the last attempt. */
  readonly deployment?: string | undefined
  /** How many requests were sent to platforms; absent for calls that send none, such as uploads. */
  readonly attempts?: number | undefined
  /** Present if there were several, or the only one failed. */
  readonly attemptList?: readonly AttemptEnd[] | undefined
  /** In hex; present if the call is traced. */
  readonly traceId?: string | undefined
  /** Absent if the call did not wait for a slot of its agent. */
  readonly queuedMs?: number | undefined
  readonly reason?: ErrorReason | undefined
  readonly model?: string | undefined
  readonly platformStatus?: number | undefined
  readonly platformCode?: string | undefined
  readonly platformLogId?: string | undefined
  readonly promptTokens?: number | undefined
  readonly completionTokens?: number | undefined
  readonly totalTokens?: number | undefined
  readonly firstChunkMs?: number | undefined
  readonly durationMs: number
}

export interface LedgerObserver {
  batch(statement: 'admit' | 'settle', size: number, ms: number): void
  /** A statement failed; it may be repeated. */
  batchFailed?(statement: 'admit' | 'settle', error: unknown): void
  settleFailed(error: unknown): void
}

export interface LedgerDeps {
  readonly sql: Sql
  /** Runs the admissions, one statement at a time; defaults to {@link LedgerDeps.sql}. */
  readonly admissionSql?: Sql
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
   * is attached to that instead, which needs no quota.
   *
   * @throws Problem with status 401, 403 or 429 if the call is rejected, `unavailable` if the database does not answer in time,
   * `idempotency_mismatch` if the earlier call was asked something else
   */
  admit(admission: Admission): Promise<Admitted>
  /** Writes the end of a call in the background; retries until the database accepts it or {@link Ledger.close} gives up. */
  settle(settlement: Settlement): void
  /**
   * Begins to wait for the settlement of a call of this process. Settlements that were written before are not remembered, so
   * begin to wait, then read the row, and await {@link SettlementWait.written} only if the row is still open.
   */
  awaitSettlement(callId: string): SettlementWait
  /**
   * Settles as `interrupted` the calls that earlier processes left open; returns how many. To be called only by a process
   * that is the sole user of its database, because it does not check whether the other processes are alive.
   */
  settlePredecessors(): Promise<number>
  /** Settles as `interrupted` the open calls of processes whose lease has expired; returns how many. */
  settleDead(): Promise<number>
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

export function createLedger(deps: LedgerDeps): Ledger {
  const { sql, admissionSql = sql, runtime, instanceId, observer } = deps
  const { SETTLE, SETTLE_DEAD, SETTLE_PREDECESSORS } = settlements(deps.bounds ?? ROLLUP_BOUNDS)
  let closing = false

  const timed = async <Row>(
    statement: 'admit' | 'settle',
    on: Sql,
    text: string,
    rows: readonly unknown[],
  ) => {
    const startedMs = runtime.elapsedMs()
    try {
      const result = await on.query<Row>(text, [JSON.stringify(rows), instanceId])
      observer.batch(statement, rows.length, runtime.elapsedMs() - startedMs)
      return result
    } catch (error) {
      observer.batchFailed?.(statement, error)
      throw error
    }
  }

  const admitAll = createBatcher<PendingAdmission, AdmissionAnswer | undefined>(
    async (batch) => {
      const pending = batch.filter(({ isRefused }) => !isRefused)
      // The batch timed out and was queued again, and all of its callers have been rejected meanwhile.
      if (pending.length === 0) return batch.map(() => undefined)
      const rows = pending.map(({ admission }, index) => admissionRow(admission, index))
      const text = admissionText(pending)
      const send = () => timed<{ answers: AdmissionAnswer[] }>('admit', admissionSql, text, rows)
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

  const settleAll: Batcher<PendingSettlement, void> = createBatcher<PendingSettlement, void>(
    async (batch) => {
      await timed('settle', sql, SETTLE, batch.map(settlementRow))
      const late = batch.filter(({ freesKey }) => freesKey)
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
  // A count instead of a Set, for the cost of a Set that is described at InFlight.
  let unwritten = 0
  let whenWritten: (() => void) | undefined

  async function free(late: readonly PendingSettlement[]): Promise<void> {
    try {
      await sql.query(FREE_LATE, [JSON.stringify(late.map(({ callId }) => callId)), instanceId])
    } catch (error) {
      observer.batchFailed?.('settle', error)
      throw error
    }
  }

  function settle(settlement: PendingSettlement): void {
    unwritten += 1
    settleWithRetries(settlement)
  }

  /** Uses callbacks, because an async function would cost every call two more promises. */
  function settleWithRetries(settlement: PendingSettlement, delayMs = RETRY_AFTER_MS): void {
    settleAll(settlement).then(
      () => written(settlement),
      (error: unknown) => {
        if (isConnectionError(error) && !closing) {
          const nextMs = Math.min(2 * delayMs, retryAfterMsMax(error))
          setTimeout(settleWithRetries, delayMs, settlement, nextMs).unref()
          return
        }
        observer.settleFailed(error)
        written(settlement)
      },
    )
  }

  function written({ callId }: Settlement): void {
    waits.end(callId)
    unwritten -= 1
    if (unwritten === 0) whenWritten?.()
  }

  return {
    async admit(admission) {
      const pending = { admission, isRefused: false }
      const answer = markRejectionHandled(admitAll(pending))
      let decision: AdmissionAnswer | undefined
      try {
        decision = await withDeadline(ADMIT_WITHIN_MS, answer)
      } catch (cause) {
        if (!isConnectionError(cause)) throw cause
        pending.isRefused = true
        const { callId, kept } = admission
        // The call may have been counted although its answer is late or lost. It is settled then, so that it does not stay open,
        // and its Idempotency-Key is free for the next try.
        const settleIf = (mayCount: boolean) => {
          if (!mayCount) return
          const rejected = { callId, outcome: 'rejected', reason: 'unavailable', durationMs: 0 } as const
          settle({ ...rejected, freesKey: kept !== undefined })
        }
        answer.then(
          (late) => settleIf(late !== undefined && late[0] === null && attachedTo(late) === undefined),
          (error: unknown) =>
            settleIf(!wasNeverSent(error) && !isStatementTimeout(error) && !isDiskFull(error)),
        )
        throw new Problem('unavailable', { retryAfterSeconds: 1, cause })
      }
      if (decision === undefined) throw new Error('an admission was left out of its batch')
      const [refusal, keyId, ownerId, maxApiCalls] = decision
      if (refusal !== null) throw new Problem(refusal, { detail: refusalDetail(refusal, maxApiCalls) })
      const earlier = attachedTo(decision)
      return earlier === undefined ? { keyId, ownerId } : { keyId, ownerId, attachedTo: earlier }
    },
    settle,
    awaitSettlement: (callId) => waits.begin(callId),
    settlePredecessors: () => untilNone(() => sql.query(SETTLE_PREDECESSORS, [instanceId])),
    settleDead: () => untilNone(() => sql.query(SETTLE_DEAD)),
    async close(timeoutMs) {
      const allWritten = new Promise<void>((resolve) => {
        if (unwritten === 0) resolve()
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

interface PendingAdmission {
  readonly admission: Admission
  /** Set when the caller has been rejected because of the deadline; the admission is then no longer sent. */
  isRefused: boolean
}

interface PendingSettlement extends Settlement {
  /** Whether the `Idempotency-Key` of the call is free again. */
  readonly freesKey?: boolean
}

/**
 * The answer of {@link ADMIT}; that of {@link ADMIT_KEPT} has one element more. If `refusal` is set, the other elements may be
 * null.
 */
type AdmissionAnswer = readonly [
  refusal: ErrorReason | null,
  keyId: string,
  ownerId: string,
  maxApiCalls: number,
  attachedTo?: string | null,
]

/** The earlier call that an answer names; undefined if the call has its own row or was refused. */
function attachedTo([refusal, , , , earlier]: AdmissionAnswer): string | undefined {
  return refusal === null ? (earlier ?? undefined) : undefined
}

/** The statement for a batch. Ordinary calls pay for claims only if they share a batch with a kept one. */
function admissionText(batch: readonly PendingAdmission[]): string {
  if (batch.some(({ admission }) => admission.kept !== undefined)) return ADMIT_KEPT
  return batch.length === 1 ? ADMIT_ONE : ADMIT
}

function admissionRow(admission: Admission, index: number): unknown {
  const { kept } = admission
  return {
    n: index,
    id: admission.callId,
    request_id: admission.requestId,
    key_hash: admission.keyHash,
    permission: admission.kind,
    kind: admission.kind,
    face: admission.face,
    agent: admission.agent,
    app: admission.app,
    end_user: admission.endUser,
    conversation: admission.conversation,
    ...(kept !== undefined && {
      idempotency_hash: kept.keyHash,
      fingerprint: kept.fingerprint,
      stream: kept.stream,
    }),
  }
}

function settlementRow(settlement: Settlement): unknown {
  return {
    id: settlement.callId,
    outcome: settlement.outcome,
    deployment: settlement.deployment,
    attempts: settlement.attempts,
    attempt_list: settlement.attemptList?.map(storedAttempt),
    trace_id: settlement.traceId,
    queued_ms: storable(settlement.queuedMs),
    reason: settlement.reason,
    // The model is part of the primary key of the rollups, and PostgreSQL bounds the size of index entries.
    model: plain(settlement.model, 100),
    platform_status: settlement.platformStatus,
    platform_code: plain(settlement.platformCode),
    platform_log_id: plain(settlement.platformLogId),
    prompt_tokens: storable(settlement.promptTokens),
    completion_tokens: storable(settlement.completionTokens),
    total_tokens: storable(settlement.totalTokens),
    first_chunk_ms: storable(settlement.firstChunkMs),
    duration_ms: storable(settlement.durationMs),
  }
}

function storedAttempt({
  deployment,
  startMs,
  durationMs,
  outcome,
  reason,
  platformStatus,
}: AttemptEnd): StoredAttempt {
  return {
    deployment,
    start_ms: Math.round(startMs),
    duration_ms: Math.round(durationMs),
    outcome,
    reason,
    platform_status: platformStatus,
  }
}

/** Makes a platform's text storable: PostgreSQL texts cannot contain NUL or lone surrogates. */
function plain(text: string | undefined, charactersMax = 200): string | undefined {
  return text?.slice(0, charactersMax).replaceAll('\0', '').toWellFormed()
}

/** Drops numbers that do not fit into an int4, since platforms may report anything as token counts. */
function storable(figure: number | undefined): number | undefined {
  return figure !== undefined && figure >= 0 && figure <= 0x7fffffff ? Math.round(figure) : undefined
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
