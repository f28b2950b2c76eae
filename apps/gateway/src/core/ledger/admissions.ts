import { type Batcher, createBatcher } from '#core/base/async/batcher.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { sleep } from '#core/base/async/sleep.ts'
import {
  concernsDatabase,
  isConflict,
  isLockTimeout,
  isLostConnection,
  isStatementTimeout,
} from '#core/base/errors/connection-error.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { BoundedMap } from '#core/base/values/bounded-map.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import type { Sql } from '#core/database/database.ts'
import { wasNeverSent } from '#core/database/never-sent.ts'
import type { Traced } from '#core/requests/request-trace.ts'
import { type AdmissionAnswer, admissionRow, type PendingAdmission } from './admission-row.ts'
import { FIND_LOCKED, WAIT_FOR_KEY } from './admission-sql.ts'

/** A statement for some admissions. */
export interface AdmissionStatement {
  readonly statement: 'admit'
  readonly text: string
  readonly rows: readonly unknown[]
  readonly calls: readonly Traced[]
  /** How long it waits for a row that is locked. */
  readonly rowWaitMs: number
}

export interface AdmissionsDeps {
  /** Runs the batches, one statement at a time. */
  readonly sql: Sql
  readonly lockedRows: LockedRows
  /** The statement for one call, and that for several. */
  readonly texts: { readonly one: string; readonly several: string }
  readonly run: (on: Sql, statement: AdmissionStatement) => Promise<{ answers: AdmissionAnswer[] }[]>
  readonly runtime: Runtime
}

/** Resolves to undefined if the caller was rejected before the admission was sent. */
export type Admissions = Batcher<PendingAdmission, AdmissionAnswer | undefined>

/** The deadline of an admission. */
export const ADMIT_WITHIN_MS = 2_000
const RETRY_AFTER_MS = 100
/**
 * Batches of this size occur in a process with thousands of calls a second. Its processor is the bottleneck then, so the next
 * batch is gathered for longer: fewer, larger statements save processor time and add little latency.
 */
const BUSY_SIZE = 12
const BUSY_GATHER_MS = 2
/**
 * How long a batch waits for a row before it looks who holds it. Other processes hold the rows of a user and a key while they admit
 * its calls.
 */
const ROW_WAIT_MS = 200
/** How long a batch is sent again if it is not found that a stranger holds one of its rows. */
const UNCLEAR_WAIT_MS = 1_000
/** While many rows are locked, each is waited for in turn for a part of this time, so that all have their turns before a deadline. */
const LOCKED_ROWS_WAIT_MS = 1_000
const LOCKED_ROW_WAIT_MS_MIN = 25
/** The most keys whose rows are remembered as locked. A key that was forgotten is found again, at the price of one wait. */
const LOCKED_KEYS_MAX = 1_000

/**
 * Admits calls in batches. The calls of keys whose rows are locked for longer than admissions lock them, such as by a forgotten
 * transaction of another program, leave the batches and wait on a connection of their own, so that they delay no others.
 *
 * Which keys these are is found when a batch has waited for a row in vain, and remembered until an admission of the key succeeds.
 * So the others are delayed once for each locked row, and not for each call that needs it.
 */
export function createAdmissions({ sql, lockedRows, texts, run, runtime }: AdmissionsDeps): Admissions {
  const lockedKeys = new BoundedMap<string, Admissions>(LOCKED_KEYS_MAX)
  const options = { sizeMax: 256, isShared: concernsDatabase, isTooSlow: isCancelled }
  const admitFree = createBatcher<PendingAdmission, AdmissionAnswer | undefined>(admitBatch, {
    ...options,
    // Requests that are read in one turn of the event loop share a statement; a single one is not delayed.
    gather: (sendBatch, lastSize) =>
      lastSize < BUSY_SIZE ? setImmediate(sendBatch) : setTimeout(sendBatch, BUSY_GATHER_MS),
  })

  async function admitBatch(batch: readonly PendingAdmission[]) {
    const startedMs = runtime.elapsedMs()
    for (;;) {
      // A batch may have timed out and been queued again, and its callers have been rejected meanwhile.
      const free = batch.filter((each) => !each.isRefused && !lockedKeys.has(each.admission.keyId))
      try {
        await send(sql, free, ROW_WAIT_MS)
        // Only now that nothing can fail any more, because a batch that fails is repeated.
        return batch.map((each) => (each.isRefused ? each.answer : (each.answer ?? admitWhenFree(each))))
      } catch (error) {
        if (!isLockTimeout(error)) throw error
        for (const key of await findLocked(free, runtime.elapsedMs() - startedMs))
          lockedKeys.set(key, admissionsOf(key))
      }
    }
  }

  /** The keys that have to wait by themselves from now on, after their batch has waited for this long. */
  async function findLocked(
    calls: readonly PendingAdmission[],
    waitedMs: number,
  ): Promise<readonly string[]> {
    const keys = [...new Set(calls.map(({ admission }) => admission.keyId))]
    const values = [JSON.stringify(keys)]
    const found = await retryLost(
      () => sql.query<{ key: string; by_stranger: boolean }>(FIND_LOCKED, values),
      [],
    )
    const isUnclear = !found.some(({ by_stranger }) => by_stranger)
    if (!isUnclear) return found.flatMap(({ key, by_stranger }) => (by_stranger ? [key] : []))
    if (waitedMs < UNCLEAR_WAIT_MS) return []
    // None is found if it is neither the row of a key nor that of a user but a claim, for example. Which call needs that shows when
    // each key waits by itself.
    return found.length > 0 ? found.map(({ key }) => key) : keys
  }

  function admitWhenFree(call: PendingAdmission): Promise<AdmissionAnswer | undefined> {
    const key = call.admission.keyId
    const admissions = lockedKeys.get(key) ?? admissionsOf(key)
    return markRejectionHandled(admissions(call))
  }

  /** The admissions of a key whose rows are locked, which try again and again until the rows are free or no caller waits. */
  function admissionsOf(key: string): Admissions {
    return createBatcher<PendingAdmission, AdmissionAnswer | undefined>(async (batch) => {
      for (;;) {
        try {
          const wasTried = await lockedRows.inTurn((on, keysWaiting) =>
            admitLocked(batch, key, on, keysWaiting),
          )
          // Of a key for which nothing was tried it is not known whether its rows are free.
          if (wasTried) lockedKeys.delete(key)
          return batch.map(({ answer }) => answer)
        } catch (error) {
          if (!isLockTimeout(error)) throw error
        }
      }
    }, options)
  }

  async function admitLocked(batch: readonly PendingAdmission[], key: string, on: Sql, keysWaiting: number) {
    const pending = batch.filter(({ isRefused }) => !isRefused)
    if (pending.length === 0) return false
    const shareMs = Math.max(LOCKED_ROW_WAIT_MS_MIN, Math.floor(LOCKED_ROWS_WAIT_MS / keysWaiting))
    const waitMs = Math.min(ROW_WAIT_MS, shareMs)
    // An admission that waits for its key holds the row of the user, for which those with other keys of the user would wait.
    await retryLost(() => on.query(WAIT_FOR_KEY, [key, String(waitMs)]), pending)
    await send(on, pending, waitMs)
    return true
  }

  /** Sends a statement, which counts all of these calls as far as they are admitted, or none. */
  async function send(on: Sql, pending: readonly PendingAdmission[], rowWaitMs: number): Promise<void> {
    if (pending.length === 0) return
    const text = pending.length === 1 ? texts.one : texts.several
    const statement = {
      statement: 'admit',
      text,
      rows: pending.map(admissionRow),
      calls: pending,
      rowWaitMs,
    } as const
    const [row] = await retryLost(() => run(on, statement), pending)
    if (row?.answers.length !== pending.length) throw new Error('an admission was left out of its batch')
    for (const [index, each] of pending.entries()) each.answer = row.answers[index]
  }

  /**
   * Repeats a statement whose connection was lost, or that gave way to another, until shortly before the deadline of admissions. Its calls have the same ids then,
   * which the statement recognizes, so each call is counted once.
   */
  async function retryLost<Result>(
    work: () => Promise<Result>,
    calls: readonly PendingAdmission[],
  ): Promise<Result> {
    const deadlineMs = runtime.elapsedMs() + ADMIT_WITHIN_MS - RETRY_AFTER_MS
    let lost: unknown
    for (;;) {
      try {
        return await work()
      } catch (error) {
        // The statement whose answer was lost may commit during its retry, which then fails on the duplicate call ids.
        const isRetryable =
          isLostConnection(error) ||
          isConflict(error) ||
          (isDuplicate(error) && calls.some(({ mayBeCounted }) => mayBeCounted))
        if (isLostConnection(error) && !wasNeverSent(error)) {
          lost ??= error
          for (const call of calls) call.mayBeCounted = true
        }
        if (isLockTimeout(error)) throw error
        if (!isRetryable || runtime.elapsedMs() >= deadlineMs) throw lost ?? error
        await sleep(RETRY_AFTER_MS)
      }
    }
  }

  return (pending) => (lockedKeys.get(pending.admission.keyId) ?? admitFree)(pending)
}

/** The connection on which calls wait for rows that are locked. */
export interface LockedRows {
  /** Runs the work when what came before has run. `keysWaiting` counts what waits for its turn, with this one. */
  inTurn<Result>(work: (on: Sql, keysWaiting: number) => Promise<Result>): Promise<Result>
}

export function createLockedRows(sql: Sql): LockedRows {
  let last: Promise<unknown> | undefined
  let waiting = 0
  return {
    inTurn(work) {
      waiting += 1
      const turn = markRejectionHandled(runAfter(last, () => work(sql, waiting)))
      last = turn
      return turn.finally(() => {
        waiting -= 1
      })
    },
  }
}

/** Runs the work when what came before has ended, in whatever way. */
async function runAfter<Result>(
  before: Promise<unknown> | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  await before?.catch(() => undefined)
  return work()
}

/** Whether a statement took too long as a whole. */
function isCancelled(error: unknown): boolean {
  return isStatementTimeout(error) && !isLockTimeout(error)
}

/** PostgreSQL's code for a unique violation. */
function isDuplicate(error: unknown): boolean {
  return errorCode(error) === '23505'
}
