import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { Problem } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import type { ToldConcern } from '#core/ledger/process-concerns.ts'

interface ProcessConcernsDeps extends Pick<Ledger, 'backlog' | 'lateSettlements'> {
  readonly runtime: Pick<Runtime, 'elapsedMs' | 'now'>
  readonly isDiskFull: () => boolean
  /** Who holds the lock for which statements of the gateway wait; absent where the database has one session. */
  readonly findLockHolder?: (() => Promise<string | undefined>) | undefined
  /** Called when such a lock is found, and with another holder again. */
  readonly lockFound: (blockedBy: string) => void
}

/** Ends of calls are written within a second. */
const BEHIND_MS = 5_000
/** So many of the late ones are named, for `usage verify`. */
const LATE_CALLS_MAX = 100
/** Requests that were refused before a pause of this length belong to another trouble. */
const QUIET_MS = 60_000
/** A statement waits for a lock, is cancelled and comes again after a while, so that a look may find it not waiting. */
const HOLDER_KNOWN_MS = 60_000

interface Refused {
  count: number
  readonly sinceMs: number
  lastMs: number
}

/** Says what is wrong with this process, for its heartbeats: by them the console shows it beside the other processes. */
export function createProcessConcerns(deps: ProcessConcernsDeps) {
  const { runtime, backlog, lateSettlements, isDiskFull, findLockHolder, lockFound } = deps
  const refusals = new Map<string, Refused>()
  let fullSinceMs: number | undefined
  let holder: { readonly name: string; readonly seenMs: number } | undefined
  let looking: Promise<void> | undefined

  function ledgerBehind(): ToldConcern[] {
    const { waiting, oldestMs } = backlog()
    if (oldestMs < BEHIND_MS) return []
    const calls = lateSettlements(BEHIND_MS, LATE_CALLS_MAX)
    return [{ concern: 'ledger_behind', since: before(oldestMs), count: waiting, calls }]
  }

  function diskFull(nowMs: number): ToldConcern[] {
    fullSinceMs = isDiskFull() ? (fullSinceMs ?? nowMs) : undefined
    return fullSinceMs === undefined ? [] : [{ concern: 'disk_full', since: before(nowMs - fullSinceMs) }]
  }

  function unavailable(nowMs: number): ToldConcern[] {
    return [...refusals].flatMap(([cause, { count, sinceMs, lastMs }]) => {
      if (nowMs - lastMs < QUIET_MS)
        return { concern: 'unavailable', cause, since: before(nowMs - sinceMs), count }
      refusals.delete(cause)
      return []
    })
  }

  const before = (ms: number) => Math.round(runtime.now().getTime() - ms)

  /** Looks in the background, for what is told next. */
  function lookForHolder(): void {
    if (findLockHolder === undefined || looking !== undefined) return
    looking = markRejectionHandled(
      findLockHolder()
        .then((name) => {
          if (name === undefined) return
          if (name !== holder?.name) lockFound(name)
          holder = { name, seenMs: runtime.elapsedMs() }
        })
        // A database that does not answer is told of by its readiness.
        .catch(() => undefined)
        .finally(() => {
          looking = undefined
        }),
    )
  }

  return {
    /** Notes a request that was refused. */
    refused({ reason, limit }: Pick<Problem, 'reason' | 'limit'>): void {
      if (reason !== 'unavailable' || limit === undefined) return
      const nowMs = runtime.elapsedMs()
      const known = refusals.get(limit)
      if (known === undefined || nowMs - known.lastMs >= QUIET_MS)
        refusals.set(limit, { count: 1, sinceMs: nowMs, lastMs: nowMs })
      else {
        known.count += 1
        known.lastMs = nowMs
      }
    },
    /** What is wrong now. */
    concerns(): ToldConcern[] {
      const nowMs = runtime.elapsedMs()
      const late = [...ledgerBehind(), ...unavailable(nowMs)]
      if (late.length > 0) lookForHolder()
      else holder = undefined
      const blockedBy =
        holder !== undefined && nowMs - holder.seenMs < HOLDER_KNOWN_MS ? holder.name : undefined
      return [...late.map((each) => withHolder(each, blockedBy)), ...diskFull(nowMs)]
    },
  }
}

/** A lock of the database explains what waits for the database alone. */
function withHolder(concern: ToldConcern, blockedBy: string | undefined): ToldConcern {
  const isBehindLock = concern.cause === undefined || concern.cause === 'database'
  return isBehindLock && blockedBy !== undefined ? { ...concern, blockedBy } : concern
}
