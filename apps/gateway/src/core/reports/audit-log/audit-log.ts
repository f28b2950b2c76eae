import { whoIs } from '#core/audit/actor.ts'
import type { Audit, NewEvent } from '#core/audit/audit.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import type { Database } from '#core/database/database.ts'
import type { Limits } from '#core/limits/limits.ts'
import type { Reads } from '#core/limits/sharing/reads.ts'
import { createRecordList, type ForwardPage, readNewest } from '#core/reports/record-list.ts'
import { type Principal, requireAdmin } from '#core/requests/principal.ts'
import { type AuditInput, type AuditQuery, parseAuditQuery } from './audit-query.ts'
import { type AuditEvent, findEvents, numberOfCursor, selectEvents } from './audit-rows.ts'

/**
 * The events of the audit log, for every face and only for administrators.
 *
 * Every method throws the problems `permission_denied` and `role_denied`.
 */
export type AuditLog = Omit<ReturnType<typeof createAuditLog>, keyof AuditTasks>

/** Work on the audit log that needs no caller. */
export type AuditTasks = Pick<ReturnType<typeof createAuditLog>, 'events'>

export interface AuditLogDeps {
  readonly database: Pick<Database, 'sql'>
  readonly limits: Pick<Limits, 'calls'>
  readonly reads: Reads
  readonly audit: Pick<Audit, 'append' | 'appendBounded'>
}

/** A batch is written in one go, and a larger one would make calls wait. */
const BATCH_EVENTS = 2_000

/** Stands for the id of a user where a command of the operator reads. */
const OPERATOR = 'operator'

export function createAuditLog({ database: { sql }, limits, reads, audit }: AuditLogDeps) {
  return {
    ...createRecordList<AuditInput, AuditQuery, AuditEvent, number, ForwardPage>(reads, {
      limiter: limits.calls,
      parse(input, caller) {
        requireAdmin(caller)
        return parseAuditQuery(input)
      },
      beforeOf: ({ cursor }) => (cursor === undefined ? undefined : numberOfCursor(cursor)),
      keyOf: ({ n }) => n,
      select: async (_caller, query, slices) => selectEvents({ sql, slices }, query),
    }),
    /** The events with these numbers, by number. Those that were cut off or do not exist yet are left out. */
    async findMany(caller: Principal, ns: readonly number[]): Promise<ReadonlyMap<string, AuditEvent>> {
      requireAdmin(caller)
      return findEvents(sql, ns)
    },
    /**
     * Records that a caller, whoever it is, begins to download a list, and with which parameters: after its first rows were read,
     * before the first byte.
     */
    exported(
      caller: Principal,
      list: string,
      { format: _format, limit: _limit, cursor: _cursor, ...parameters }: Readonly<Record<string, unknown>>,
    ): Promise<void> {
      const given = withoutNames(omitUndefined(parameters))
      const after = Object.keys(given).length > 0 ? given : undefined
      const event: NewEvent = { operation: 'export', target: 'export', targetId: list, after }
      const who = whoIs(caller)
      // Downloads are limited for each credential, of which a user may have a thousand.
      return who.actor === 'command'
        ? audit.append(who, event)
        : audit.appendBounded(who, event, [{ kind: 'user', id: caller.userId }])
    },
    /** A batch of the events that match, newest first and below a number; none after the last one. */
    async events(input: AuditInput, before: number | undefined): Promise<AuditEvent[]> {
      const query = parseAuditQuery(input)
      return reads.inTurn({ owner: OPERATOR, isContinued: true }, (slices) =>
        readNewest(selectEvents({ sql, slices }, query), before, BATCH_EVENTS),
      )
    },
  }
}

/** Parameters that select by what end users are called, or may contain it. */
const NAMES = ['end_user', 'conversation', 'search']

/** The log cannot be changed when an end user is erased, so it has only that such a parameter was given. */
function withoutNames(parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [
      name,
      NAMES.includes(name) ? '(not recorded)' : value,
    ]),
  )
}
