import { setImmediate as turnOver } from 'node:timers/promises'
import { type Batcher, createBatcher } from '#core/batcher.ts'
import { isConnectionError, isLostConnection, isStatementTimeout } from '#core/database/connection-error.ts'
import type { Sql } from '#core/database/database.ts'
import { wasNeverSent } from '#core/database/never-sent.ts'
import { withDeadline } from '#core/deadline.ts'
import { errorCode } from '#core/error-code.ts'
import { type ErrorReason, Problem } from '#core/errors.ts'
import { handled } from '#core/handled.ts'
import type { Permission } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import { sleep } from '#core/sleep.ts'
import { ADMIT, ADMIT_ONE, ROLLUP_BOUNDS, type RollupBounds, settlements } from './ledger-sql.ts'

/** A kind of call has the name of the permission that it needs. */
export type CallKind = Extract<Permission, 'chat' | 'upload'>
export type CallFace = 'rest' | 'openai' | 'graphql'
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

/** What is asked when a call wants in. All texts are free of control characters: they were checked at the face. */
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
}

export interface Admitted {
  readonly keyId: string
  readonly ownerId: string
}

/** How a call ended; written exactly once. Unknown tokens are absent. */
export interface Settlement {
  readonly callId: string
  readonly outcome: CallOutcome
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
  settleFailed(error: unknown): void
}

export interface LedgerDeps {
  readonly sql: Sql
  /** For admissions, of which one statement is under way at a time; left out: {@link LedgerDeps.sql}. */
  readonly admissionSql?: Sql
  readonly runtime: Runtime
  readonly instanceId: string
  readonly observer: LedgerObserver
  /** Left out: {@link ROLLUP_BOUNDS}. */
  readonly bounds?: RollupBounds
}

/** Admission and settlement: the database decides, and nothing reaches a platform before its admission is committed. */
export interface Ledger {
  /** Refuses with the reason (401, 403, 429) or counts the call and writes its row. */
  admit(admission: Admission): Promise<Admitted>
  /** Writes the end. Never rejects: it tries until the database takes it or {@link Ledger.close} gives up. */
  settle(settlement: Settlement): void
  /** Settles as `interrupted` what the processes before this one left open. Only the sole owner of a database may. */
  settlePredecessors(): Promise<number>
  /** Settles as `interrupted` the open calls of instances whose lease has passed. */
  settleDead(): Promise<number>
  /** Waits until every settlement is written, at most so long. */
  close(timeoutMs: number): Promise<void>
}

const ADMIT_WITHIN_MS = 2_000
const RETRY_AFTER_MS = 100
/** A settlement that takes too long even by itself, as behind a lock, is tried again more and more seldom. */
const RETRY_SLOW_AFTER_MS_MAX = 30_000
/** Statements of so many calls follow each other where a process has thousands a second: its processor is short then, not their time. */
const BUSY_SIZE = 12
const BUSY_GATHER_MS = 2
/** Nobody waits for a settlement, and the statement and its rollups cost the same for one call as for fifty. */
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
    const result = await on.query<Row>(text, [JSON.stringify(rows), instanceId])
    observer.batch(statement, rows.length, runtime.elapsedMs() - startedMs)
    return result
  }

  const admitAll = createBatcher<Asked, AdmissionAnswer | undefined>(
    async (batch) => {
      const asked = batch.filter(({ isRefused }) => !isRefused)
      // All of a batch that took too long and was put back: their callers have had their answer.
      if (asked.length === 0) return batch.map(() => undefined)
      const rows = asked.map(({ admission }, index) => admissionRow(admission, index))
      const text = rows.length === 1 ? ADMIT_ONE : ADMIT
      const ask = () => timed<{ answers: AdmissionAnswer[] }>('admit', admissionSql, text, rows)
      // A repeat after a lost answer carries the same call ids, which the statement leaves out: it counts once.
      const [row] = await retryLost(ask, runtime)
      const answers = row?.answers ?? []
      const answerOf = new Map(asked.map((each, index) => [each, answers[index]]))
      return batch.map((each) => answerOf.get(each))
    },
    {
      sizeMax: 256,
      isShared: isLostConnection,
      isTooSlow: isStatementTimeout,
      // Requests that the event loop reads in one turn go into one statement; a lone one waits for nobody.
      gather: (lastSize) => (lastSize < BUSY_SIZE ? turnOver() : sleep(BUSY_GATHER_MS)),
    },
  )

  const settleAll: Batcher<Settlement, void> = createBatcher<Settlement, void>(
    async (settlements) => {
      await timed('settle', sql, SETTLE, settlements.map(settlementRow))
      return settlements.map(() => undefined)
    },
    {
      sizeMax: 1_000,
      isShared: isLostConnection,
      isTooSlow: isStatementTimeout,
      gather: () => sleep(SETTLE_EVERY_MS),
    },
  )

  // Counted, not kept in a Set: see InFlight for what that costs.
  let unwritten = 0
  let whenWritten: (() => void) | undefined

  function settle(settlement: Settlement): void {
    unwritten += 1
    settleUntilTaken(settlement)
  }

  /** Callbacks: an async function would cost every call two promises more. */
  function settleUntilTaken(settlement: Settlement, delayMs = RETRY_AFTER_MS): void {
    settleAll(settlement).then(written, (error: unknown) => {
      if (isConnectionError(error) && !closing) {
        const nextMs = isStatementTimeout(error)
          ? Math.min(2 * delayMs, RETRY_SLOW_AFTER_MS_MAX)
          : RETRY_AFTER_MS
        setTimeout(settleUntilTaken, delayMs, settlement, nextMs).unref()
        return
      }
      observer.settleFailed(error)
      written()
    })
  }

  function written(): void {
    unwritten -= 1
    if (unwritten === 0) whenWritten?.()
  }

  return {
    async admit(admission) {
      const asked = { admission, isRefused: false }
      const answer = handled(admitAll(asked))
      let judged: AdmissionAnswer | undefined
      try {
        judged = await withDeadline(ADMIT_WITHIN_MS, answer)
      } catch (cause) {
        if (!isConnectionError(cause)) throw cause
        asked.isRefused = true
        // Its answer may be late or lost: what was counted all the same has an end.
        const settleIf = (mayCount: boolean) => {
          if (!mayCount) return
          settle({ callId: admission.callId, outcome: 'rejected', reason: 'unavailable', durationMs: 0 })
        }
        answer.then(
          (late) => settleIf(late?.[0] === null),
          (error: unknown) => settleIf(!wasNeverSent(error) && !isStatementTimeout(error)),
        )
        throw new Problem('unavailable', { retryAfterSeconds: 1, cause })
      }
      if (judged === undefined) throw new Error('an admission was left out of its batch')
      const [refusal, keyId, ownerId, maxApiCalls] = judged
      if (refusal !== null) throw new Problem(refusal, { detail: refusalDetail(refusal, maxApiCalls) })
      return { keyId, ownerId }
    },
    settle,
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

/** Repeats a statement that does a bounded part of the work; returns how much it was. */
async function untilNone(work: () => Promise<readonly unknown[]>): Promise<number> {
  let done = 0
  for (;;) {
    const { length } = await work()
    if (length === 0) return done
    done += length
  }
}

interface Asked {
  readonly admission: Admission
  /** Its caller was told that it is not admitted: if it has not been sent, it is not sent any more. */
  isRefused: boolean
}

/** A refused one may lack the rest. */
type AdmissionAnswer = readonly [
  refusal: ErrorReason | null,
  keyId: string,
  ownerId: string,
  maxApiCalls: number,
]

function admissionRow(admission: Admission, index: number): unknown {
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
  }
}

function settlementRow(settlement: Settlement): unknown {
  return {
    id: settlement.callId,
    outcome: settlement.outcome,
    reason: settlement.reason,
    // Part of the rollups' key, which has its size from PostgreSQL's pages.
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

/** A platform's text may hold what PostgreSQL cannot: NUL and lone surrogates. */
function plain(text: string | undefined, charactersMax = 200): string | undefined {
  return text?.slice(0, charactersMax).replaceAll('\0', '').toWellFormed()
}

/** Platforms report the tokens: a figure that no int4 holds is no figure. */
function storable(figure: number | undefined): number | undefined {
  return figure !== undefined && figure >= 0 && figure <= 0x7fffffff ? Math.round(figure) : undefined
}

function refusalDetail(refusal: ErrorReason, maxApiCalls: number): string | undefined {
  return refusal === 'quota_exceeded' ? `max_api_calls of ${maxApiCalls} is reached.` : undefined
}

async function retryLost<Result>(work: () => Promise<Result>, runtime: Runtime): Promise<Result> {
  const deadlineMs = runtime.elapsedMs() + ADMIT_WITHIN_MS - RETRY_AFTER_MS
  let lost: unknown
  for (;;) {
    try {
      return await work()
    } catch (error) {
      // The statement whose answer was lost may have ended beside its repetition, which then meets its rows.
      const isRetryable = isLostConnection(error) || (lost !== undefined && isDuplicate(error))
      if (!wasNeverSent(error)) lost ??= error
      if (!isRetryable || runtime.elapsedMs() >= deadlineMs) throw lost ?? error
      await sleep(RETRY_AFTER_MS)
    }
  }
}

/** By pg's code; PGlite loses no answers. */
function isDuplicate(error: unknown): boolean {
  return errorCode(error) === '23505'
}
