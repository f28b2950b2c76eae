import { writeObstacle } from '#core/base/errors/connection-error.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import type { Sql } from '#core/database/database.ts'
import { AMPLE_SPACE, type DiskSpace } from '#core/database/disk/disk-space.ts'
import type { Who } from './actor.ts'
import type { AuditOperation, AuditTarget } from './operations.ts'

/** What happened, and to what. */
export interface NewEvent {
  readonly operation: AuditOperation
  /** `done` by default. */
  readonly result?: 'done' | 'refused' | 'failed' | undefined
  readonly target?: AuditTarget | undefined
  readonly targetId?: string | undefined
  /** The states before and after; they must not contain a secret. */
  readonly before?: object | undefined
  readonly after?: object | undefined
  /** Why it was refused or failed. */
  readonly reason?: string | undefined
}

/** An operation that its caller may not do, by the name of its route or field. */
export interface RefusedEvent extends Omit<NewEvent, 'operation'> {
  readonly operation: string
  readonly result: 'refused'
}

/** Something by which events that strangers can cause are bounded. */
export interface AuditSubject {
  readonly kind: 'user' | 'credential' | 'address'
  readonly id: string
}

/**
 * Adds events to the audit log. The changes of users, keys and signing keys are not added here: they are events by themselves
 * (actor.ts).
 */
export type Audit = ReturnType<typeof createAudit>

/** Single events of a username, credential or address in an hour. */
export const BOUNDED_MAX = 100
/** Single events of anybody in an hour. */
export const ALL_MAX = 1_000

export function createAudit({
  sql,
  space = AMPLE_SPACE,
  onDropped = () => undefined,
}: {
  readonly sql: Sql
  /** Called for an event that the database did not take. */
  readonly onDropped?: () => void
  /** Defaults to {@link AMPLE_SPACE}. */
  readonly space?: Pick<DiskSpace, 'isLow'>
}) {
  /** What changes something fails by itself where nothing can be written. Reads and logins go on, without a record. */
  async function store(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (error) {
      if (writeObstacle(error) === undefined) throw error
      onDropped()
    }
  }

  return {
    /** Resolves when the event is stored. Where the database takes no writes it is not stored, and reads and logins go on. */
    async append(who: Who, event: NewEvent): Promise<void> {
      if (space.isLow) return
      await store(sql.query('SELECT audit_append($1::jsonb)', [eventJson(who, event)]))
    },
    /**
     * The same for what strangers can cause at will: after {@link BOUNDED_MAX} events of a subject in an hour they are only counted,
     * and {@link ChainSweep} adds one event with their number.
     *
     * @param all - what callers without a credential do, who may have any number of addresses, is bounded by {@link ALL_MAX} as well,
     * for all subjects of this kind together
     */
    async appendBounded(
      who: Who,
      event: NewEvent | RefusedEvent,
      subjects: readonly AuditSubject[],
      all?: AuditSubject['kind'],
    ): Promise<void> {
      if (space.isLow) return
      const { operation, result = 'done' } = event
      const nameOf = ({ kind, id }: AuditSubject) => `${operation}/${result}/${kind}/${id}`
      const values = [eventJson(who, event), JSON.stringify(subjects.map(nameOf)), BOUNDED_MAX]
      if (all === undefined) await store(sql.query(`SELECT ${APPEND_BOUNDED}`, values))
      else await store(sql.query(APPEND_WITHIN_ALL, [...values, nameOf({ kind: all, id: 'all' }), ALL_MAX]))
    },
  }
}

const APPEND_BOUNDED = 'audit_append_bounded($1::jsonb, ARRAY(SELECT json_array_elements_text($2)), $3)'

/** `$4`: the subject that all of them share, `$5`: its events at most. What is beyond is counted for this subject alone. */
const APPEND_WITHIN_ALL = `
WITH everybody AS (
  INSERT INTO audit_allowances AS a (subject, start, seen)
  VALUES ($4, date_trunc('hour', clock_timestamp(), 'UTC'), 1)
  ON CONFLICT (subject, start) DO UPDATE SET seen = a.seen + 1, omitted = a.omitted + (a.seen >= $5)::int
  RETURNING seen
)
SELECT CASE WHEN seen <= $5 THEN ${APPEND_BOUNDED} END FROM everybody`

/** An event as `audit_append` takes it. */
export function eventJson(who: Who, { before, after, ...event }: NewEvent | RefusedEvent): string {
  const text = JSON.stringify(
    omitUndefined({
      ...who,
      ...event,
      before: before && JSON.stringify(before),
      after: after && JSON.stringify(after),
    }),
  )
  // PostgreSQL stores no such character in a text.
  return text.replaceAll('\\u0000', '\\ufffd')
}
