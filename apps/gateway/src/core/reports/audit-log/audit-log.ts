import { whoIs } from '#core/audit/actor.ts'
import type { Audit, NewEvent } from '#core/audit/audit.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import type { Database } from '#core/database/database.ts'
import { type Limits, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import type { Reads } from '#core/limits/sharing/reads.ts'
import { allRows, BATCH_ROWS } from '#core/lists/all-rows.ts'
import type { ForwardPage } from '#core/lists/rows-by-id.ts'
import { rowsOf } from '#core/requests/input/pagination.ts'
import { credentialId, type Principal, requireAdmin } from '#core/requests/principal.ts'
import { type AuditInput, parseAuditQuery } from './audit-query.ts'
import { type AuditEvent, countEvents, findEvents, numberOfCursor, readEvents } from './audit-rows.ts'

/**
 * The events of the audit log, for every face and only for administrators. Each page, count and export takes a point of the
 * caller's rate limit after its query has been validated, and waits for the turn of its user.
 *
 * Every method throws the problems `permission_denied` and `role_denied`.
 */
export interface AuditLog {
  /** A page of events, newest first. */
  list(
    caller: Principal,
    input: AuditInput,
    page: ForwardPage,
    onLimit?: OnLimit,
    signal?: AbortSignal,
  ): Promise<AuditEvent[]>
  /** How many events match; null for more than 10,000. It takes a point like a page. */
  count(caller: Principal, input: AuditInput, onLimit?: OnLimit, signal?: AbortSignal): Promise<number | null>
  /** The events with these numbers, by them, as far as they were not cut off and there are any yet. */
  findMany(caller: Principal, ns: readonly number[]): Promise<ReadonlyMap<string, AuditEvent>>
  /** All events that match, newest first. The whole export takes one point. */
  export(
    caller: Principal,
    input: AuditInput,
    onLimit?: OnLimit,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<AuditEvent>>
  /**
   * Records that a caller, whoever it is, begins to download a list, and with which parameters: after its first rows were read,
   * before the first byte.
   */
  exported(
    caller: Principal,
    list: ExportedList,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<void>
}

/** The lists that can be downloaded. */
export type ExportedList = 'usage' | 'calls' | 'refusals' | 'refusal-counts' | 'audit'

/** Work on the audit log that needs no caller. */
export interface AuditTasks {
  /** A batch of the events that match, newest first and below a number; none after the last one. */
  events(input: AuditInput, before: number | undefined): Promise<AuditEvent[]>
}

export interface AuditLogDeps {
  readonly database: Pick<Database, 'sql'>
  readonly limits: Pick<Limits, 'calls'>
  readonly reads: Reads
  readonly audit: Pick<Audit, 'append' | 'appendBounded'>
}

/** A batch is written in one go, and a larger one would make calls wait. */
const BATCH_EVENTS = 2_000

/** In place of a user's id, for whom the commands read. */
const OPERATOR = 'operator'

export function createAuditLog({
  database: { sql },
  limits,
  reads,
  audit,
}: AuditLogDeps): AuditLog & AuditTasks {
  const requireRead = (caller: Principal, onLimit?: OnLimit, signal?: AbortSignal) => {
    reads.requirePlace({ owner: caller.userId, signal })
    return requirePoint(limits.calls, credentialId(caller), onLimit)
  }
  return {
    async list(caller, input, { take, cursor }, onLimit, signal) {
      requireAdmin(caller)
      const query = parseAuditQuery(input)
      const page = { before: cursor === undefined ? undefined : numberOfCursor(cursor), take: rowsOf(take) }
      await requireRead(caller, onLimit, signal)
      return reads.inTurn({ owner: caller.userId, signal }, (slices) =>
        readEvents({ sql, slices }, query, page),
      )
    },
    async count(caller, input, onLimit, signal) {
      requireAdmin(caller)
      const query = parseAuditQuery(input)
      await requireRead(caller, onLimit, signal)
      return reads.inTurn({ owner: caller.userId, signal }, (slices) => countEvents({ sql, slices }, query))
    },
    async findMany(caller, ns) {
      requireAdmin(caller)
      return findEvents(sql, ns)
    },
    async export(caller, input, onLimit, signal) {
      requireAdmin(caller)
      const query = parseAuditQuery(input)
      await requireRead(caller, onLimit, signal)
      return allRows((last: AuditEvent | undefined) =>
        // The rest of an export is not refused for want of a place, because it would break off in the middle.
        reads.inTurn({ owner: caller.userId, signal, isContinued: last !== undefined }, (slices) =>
          readEvents({ sql, slices }, query, { before: last?.n, take: BATCH_ROWS }),
        ),
      )
    },
    exported(caller, list, { format: _format, limit: _limit, cursor: _cursor, ...parameters }) {
      const given = omitUndefined(parameters)
      const after = Object.keys(given).length > 0 ? given : undefined
      const event: NewEvent = { operation: 'export', target: 'export', targetId: list, after }
      const who = whoIs(caller)
      // Downloads are limited for each credential, of which a user may have a thousand.
      return who.actor === 'command'
        ? audit.append(who, event)
        : audit.appendBounded(who, event, [{ kind: 'user', id: caller.userId }])
    },
    async events(input, before) {
      const query = parseAuditQuery(input)
      return reads.inTurn({ owner: OPERATOR, isContinued: true }, (slices) =>
        readEvents({ sql, slices }, query, { before, take: BATCH_EVENTS }),
      )
    },
  }
}
