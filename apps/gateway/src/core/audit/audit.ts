import type { Sql } from '#core/database/database.ts'
import { AMPLE_SPACE, type DiskSpace } from '#core/disk/disk-space.ts'
import { omitUndefined } from '#core/values/omit-undefined.ts'
import type { Who } from './actor.ts'

/** What happened, and to what. */
export interface NewEvent {
  /** Such as `users.update`. */
  readonly operation: string
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

export type AuditTarget =
  | 'user'
  | 'api_key'
  | 'signing_key'
  | 'upload'
  | 'call'
  | 'configuration'
  | 'export'
  | 'session'
  | 'audit_event'

/** Something by which events that strangers can cause are bounded. */
export interface AuditSubject {
  readonly kind: 'user' | 'credential' | 'address'
  readonly id: string
}

/**
 * Adds events to the audit log. The changes of users, keys and signing keys are not added here: they are events by themselves
 * (actor.ts).
 */
export interface Audit {
  /** Resolves when the event is stored. On a disk without space it is not stored, and calls and logins go on. */
  append(who: Who, event: NewEvent): Promise<void>
  /**
   * The same for what strangers can cause at will: after {@link BOUNDED_MAX} events of a subject in an hour they are only counted,
   * and {@link ChainSweep} adds one event with their number.
   */
  appendBounded(who: Who, event: NewEvent, subjects: readonly AuditSubject[]): Promise<void>
}

/** Single events of a username, credential or address in an hour. */
export const BOUNDED_MAX = 100

export function createAudit({
  sql,
  space = AMPLE_SPACE,
}: {
  readonly sql: Sql
  /** Defaults to {@link AMPLE_SPACE}. */
  readonly space?: Pick<DiskSpace, 'isLow'>
}): Audit {
  return {
    async append(who, event) {
      if (space.isLow) return
      await sql.query('SELECT audit_append($1::jsonb)', [eventJson(who, event)])
    },
    async appendBounded(who, event, subjects) {
      if (space.isLow) return
      const { operation, result = 'done' } = event
      const named = subjects.map(({ kind, id }) => `${operation}/${result}/${kind}/${id}`)
      await sql.query(
        'SELECT audit_append_bounded($1::jsonb, ARRAY(SELECT json_array_elements_text($2)), $3)',
        [eventJson(who, event), JSON.stringify(named), BOUNDED_MAX],
      )
    },
  }
}

/** An event as `audit_append` takes it. */
export function eventJson(who: Who, { before, after, ...event }: NewEvent): string {
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
