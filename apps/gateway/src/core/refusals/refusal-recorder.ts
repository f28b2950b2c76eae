import { hashKey } from '#core/accounts/keys/key-format.ts'
import type { KeyIdentity } from '#core/accounts/keys/key-limits.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { PeriodicRead } from '#core/base/async/periodic-read.ts'
import type { ErrorReason, Problem, RefusedRequester } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'
import type { DiskSpace } from '#core/database/disk/disk-space.ts'
import type { CallFace } from '#core/ledger/call-kinds.ts'
import { KEPT_AN_HOUR, RECORD } from './refusal-sql.ts'

/** A request that was answered with an error, and that no call of the ledger accounts for. */
export interface RefusedRequest {
  readonly requestId: string
  readonly face: CallFace
  /** The template of the path, never the path itself, or the root field of the GraphQL operation. */
  readonly route: string
  /** Whose request it was, if the credential is a known one. */
  readonly requester: RefusedRequester
  /** The prefix of the secret of a known key that was presented. */
  readonly keyPrefix?: string | undefined
  /** The input at fault, as the face names it. */
  readonly field?: string | undefined
  readonly problem: Pick<Problem, 'reason' | 'status' | 'limit' | 'reached'>
}

/**
 * Records refusals in the background: how many there were, by minute, credential, agent, reason and limit; and single ones, by
 * which the operator finds out why a request was refused. It never delays a request. What does not fit into memory until it
 * is written, or cannot be written, is dropped.
 */
export type RefusalRecorder = ReturnType<typeof createRefusalRecorder>

export interface RefusalObserver {
  /** So many refusals are not counted, or not kept as single ones. */
  dropped(kind: RefusalKind, refusals: number): void
  /** Called when refusals cannot be written, and when they can be written again. */
  recordable(isRecordable: boolean, error?: unknown): void
}

export const REFUSAL_KINDS = ['count', 'single'] as const
export type RefusalKind = (typeof REFUSAL_KINDS)[number]

export interface RefusalRecorderDeps {
  readonly sql: Sql
  /** Its clock follows the database's. */
  readonly runtime: Pick<Runtime, 'now' | 'elapsedMs' | 'newId'>
  readonly space: Pick<DiskSpace, 'isLow'>
  /** Whether the configuration has an agent with this id. */
  readonly isAgent: (id: string) => boolean
  readonly identityOf: (keyHash: string) => KeyIdentity | undefined
  readonly observer: RefusalObserver
}

/** At most one statement in this time. */
export const WRITE_EVERY_MS = 5_000
/** How long the first refusal after a quiet time waits for others. */
export const GATHER_MS = 200
/** The most counters between two writes. */
export const COUNTS_MAX = 10_000
/** The most single refusals between two writes. */
export const SINGLES_MAX = 5_000

export function createRefusalRecorder(deps: RefusalRecorderDeps) {
  const { sql, runtime, space, isAgent, identityOf, observer } = deps
  let pending = new Pending()
  let isClosed = false
  let writing: Promise<void> | undefined

  const writes = new PeriodicRead({
    everyMs: WRITE_EVERY_MS,
    runtime,
    isNeeded: () => !isClosed && !pending.isEmpty,
    read: () => {
      writing = markRejectionHandled(
        write().finally(() => {
          writing = undefined
        }),
      )
      return writing
    },
    onAnswer: observer.recordable,
  })

  async function write(): Promise<void> {
    // What is written to a full disk could end the database.
    if (pending.isEmpty || space.isLow) return
    const batch = pending
    pending = new Pending()
    try {
      await sql.query(RECORD, [JSON.stringify(batch.counts), JSON.stringify(batch.singles)])
    } catch (error) {
      // Not repeated, since the statement may have been committed before its answer was lost.
      drop(batch)
      throw error
    }
  }

  function drop({ refusals, singles }: Pending): void {
    if (refusals > 0) observer.dropped('count', refusals)
    if (singles.length > 0) observer.dropped('single', singles.length)
  }

  return {
    record(refused: RefusedRequest): void {
      if (!isRefusal(refused.problem)) return
      if (isClosed) {
        observer.dropped('count', 1)
        return
      }
      const wasEmpty = pending.isEmpty
      const row = rowOf(refused, runtime.now(), isAgent)
      if (!pending.count(row)) observer.dropped('count', 1)
      if (row.owner_id !== '' && !pending.keep(row, refused, runtime)) observer.dropped('single', 1)
      if (wasEmpty) writes.start(GATHER_MS)
    },
    /** The owner of an API key that this process has read before, for requests that are refused before their key is looked up. */
    identify: (credential: string): KeyIdentity | undefined => identityOf(hashKey(credential)),
    /** Writes what is left, in the given time at most. What is recorded later is dropped. */
    async close(timeoutMs: number): Promise<void> {
      isClosed = true
      writes.stop()
      const last = markRejectionHandled((writing ?? Promise.resolve()).catch(() => undefined).then(write))
      await withDeadline(timeoutMs, last).catch((error: unknown) => observer.recordable(false, error))
      drop(pending)
      pending = new Pending()
    },
  }
}

/** The names that a refusal is counted by. */
interface CountRow {
  readonly at: Date
  readonly minute: string
  readonly key_id: string
  readonly owner_id: string
  readonly agent: string
  readonly reason: ErrorReason
  readonly limit: string
}

/** For unknown credentials only the reason is recorded: everything else would be chosen by strangers. */
function rowOf(
  { requester: { keyId = '', ownerId = '', agent }, problem: { reason, limit } }: RefusedRequest,
  at: Date,
  isAgent: (id: string) => boolean,
): CountRow {
  const time = at.getTime()
  const minute = new Date(time - (time % 60_000)).toISOString()
  if (ownerId === '') return { at, minute, key_id: '', owner_id: '', agent: '', reason, limit: '' }
  return {
    at,
    minute,
    key_id: keyId,
    owner_id: ownerId,
    agent: agentOf(agent, isAgent),
    reason,
    limit: limit ?? '',
  }
}

/** The id of an agent of the configuration, `other` for any other name, and empty where none was named. */
function agentOf(name: string | undefined, isAgent: (id: string) => boolean): string {
  if (name === undefined || name === '') return ''
  const slash = name.indexOf('/')
  const id = (slash < 0 ? name : name.slice(0, slash)).slice(0, NAME_CHARACTERS_MAX).trim().toLowerCase()
  return isAgent(id) ? id : 'other'
}

/** Longer names than those of agents need not be looked at. */
const NAME_CHARACTERS_MAX = 200

/** What was refused since the last write. */
class Pending {
  readonly #counters = new Map<string, CountRow & { count: number }>()
  /** How many single ones there are of each credential and reason: more than an hour's would not be kept in any case. */
  readonly #kept = new Map<string, number>()
  readonly singles: object[] = []
  /** How many refusals the counters have in all. */
  refusals = 0

  get isEmpty(): boolean {
    return this.refusals === 0
  }

  get counts(): readonly object[] {
    return [...this.#counters.values()].map(({ at: _at, ...row }) => row)
  }

  /** Returns whether there was room for the counter. */
  count(row: CountRow): boolean {
    const { minute, key_id, owner_id, agent, reason, limit } = row
    const name = `${minute} ${key_id} ${owner_id} ${agent} ${reason} ${limit}`
    const counter = this.#counters.get(name)
    if (counter !== undefined) counter.count += 1
    else if (this.#counters.size < COUNTS_MAX) this.#counters.set(name, { ...row, count: 1 })
    else return false
    this.refusals += 1
    return true
  }

  /** Returns whether there was room for a single refusal that might be kept. */
  keep(row: CountRow, refused: RefusedRequest, { newId }: Pick<Runtime, 'newId'>): boolean {
    const { at, key_id, owner_id, agent, reason, limit } = row
    const credential = key_id === '' ? `user:${owner_id}` : `key:${key_id}`
    const name = `${credential} ${reason}`
    const kept = this.#kept.get(name) ?? 0
    if (kept >= KEPT_AN_HOUR) return true
    if (this.singles.length >= SINGLES_MAX) return false
    this.#kept.set(name, kept + 1)
    const { requestId, face, route, keyPrefix = '', field, problem } = refused
    this.singles.push({
      id: newId(),
      request_id: requestId,
      at: at.toISOString(),
      credential,
      key_id: key_id === '' ? null : key_id,
      owner_id,
      key_prefix: keyPrefix,
      face,
      route,
      agent,
      reason,
      status: problem.status,
      limit,
      limit_points: problem.reached?.points,
      limit_window_seconds: problem.reached?.windowSeconds,
      limit_of: problem.reached?.of,
      field: plainField(field),
    })
    return true
  }
}

/**
 * The name of a field, of which every part that is no plain name is left out: a request can have anything as a name, and nothing
 * of its texts may be stored.
 */
export function plainField(field: string | undefined): string | undefined {
  if (field === undefined) return undefined
  const parts = field.slice(0, FIELD_CHARACTERS_MAX).split('.')
  return parts.map((part) => (PLAIN_NAME.test(part) ? part : '*')).join('.')
}

const FIELD_CHARACTERS_MAX = 200
const PLAIN_NAME = /^[A-Za-z_$][\w-]{0,39}(?:\[\d{1,9}\])*$/

/** Whether a problem says that a request was refused, and not that a thing is not there or that something broke. */
function isRefusal({ status, reason }: Pick<Problem, 'status' | 'reason'>): boolean {
  return REFUSING.has(status) || NAMED_FOR_CALLS.has(reason)
}

const REFUSING: ReadonlySet<number> = new Set([400, 401, 403, 409, 413, 415, 422, 429, 503])

/** What a request for a call can name that is not there. */
const NAMED_FOR_CALLS: ReadonlySet<ErrorReason> = new Set([
  'model_not_found',
  'app_not_found',
  'conversation_not_found',
  'upload_not_found',
])
