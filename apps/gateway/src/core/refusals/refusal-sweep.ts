import type { Sql } from '#core/database/database.ts'

/** Deletes rows past their retention. */
export type RefusalSweep = ReturnType<typeof createRefusalSweep>

/** How long counts can be read, in days. */
export const COUNTS_KEPT_DAYS = 30
/** How long single refusals can be found, in hours. */
export const SINGLES_KEPT_HOURS = 24
/** Longer than the day that they are about, even if the clock of a process is wrong. */
const ALLOWANCES_KEPT_DAYS = 2

const SWEPT_AT_ONCE = 1_000

export function createRefusalSweep({ sql }: { readonly sql: Sql }) {
  return {
    /** Deletes a bounded number of rows of each kind; returns how many there were. */
    async sweep(): Promise<number> {
      let swept = 0
      for (const statement of SWEEPS) swept += (await sql.query(statement, [SWEPT_AT_ONCE])).length
      return swept
    },
  }
}

/** `$1`: rows at most. Rows that another statement deletes or writes now are left out. */
const sweepOf = (table: string, time: string, keptFor: string) => `
DELETE FROM ${table}
WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM ${table} WHERE ${time} < now() - interval '${keptFor}'
  ORDER BY ${time} LIMIT $1
  FOR UPDATE SKIP LOCKED))
RETURNING 1`

const SWEEPS = [
  sweepOf('refusal_counts', 'minute', `${COUNTS_KEPT_DAYS} days`),
  sweepOf('refusals', 'at', `${SINGLES_KEPT_HOURS} hours`),
  sweepOf('refusal_allowances', 'start', `${ALLOWANCES_KEPT_DAYS} days`),
]
