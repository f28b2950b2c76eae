import { countOf, isObject, listOf } from '#core/base/values/json.ts'

/** What an operator should know of a process: ends of calls that it cannot write, a full disk, requests that it answers 503. */
export const PROCESS_CONCERNS = ['ledger_behind', 'disk_full', 'unavailable'] as const
export type ProcessConcernKind = (typeof PROCESS_CONCERNS)[number]

/** A concern of a process, as of its last heartbeat. */
export interface ProcessConcern {
  readonly concern: ProcessConcernKind
  /** Which part is not available, where requests are answered 503; null otherwise. */
  readonly cause: string | null
  readonly since: Date
  /** How many ends of calls wait, or how many requests were refused since then; null of a disk. */
  readonly count: number | null
  /** Who holds the lock behind which statements of the gateway wait; null if none was found. */
  readonly blockedBy: string | null
}

/** A concern as a process reports it, with its begin in milliseconds since the epoch. */
export interface ToldConcern extends Omit<Partial<ProcessConcern>, 'concern' | 'since'> {
  readonly concern: ProcessConcernKind
  readonly since: number
  /** The oldest calls whose ends it cannot write, which only `usage verify` reads. */
  readonly calls?: readonly string[] | undefined
}

/** Reads what a process has told, perhaps one of another version. It leaves out what it does not understand. */
export function readConcerns(written: unknown): ProcessConcern[] {
  return listOf(written)
    .filter(isObject)
    .flatMap(({ concern, cause, since, count, blockedBy }) => {
      const kind = PROCESS_CONCERNS.find((known) => known === concern)
      const sinceMs = countOf(since)
      if (kind === undefined || sinceMs === undefined) return []
      return {
        concern: kind,
        cause: typeof cause === 'string' ? cause : null,
        since: new Date(sinceMs),
        count: countOf(count) ?? null,
        blockedBy: typeof blockedBy === 'string' ? blockedBy : null,
      }
    })
}
