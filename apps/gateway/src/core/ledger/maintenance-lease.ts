import type { Sql } from '#core/database/database.ts'

/**
 * Sees to it that one process of all that share a database does the maintenance at a time. A process holds it as long as its
 * own lease lasts ({@link Instances}), so that of a dead process is taken over. All times are the database's.
 */
export type MaintenanceLease = ReturnType<typeof createMaintenanceLease>

export interface Claim {
  readonly isClaimed: boolean
  /** Whether it is time to compare the storage of files with the records of uploads; false unless claimed. */
  readonly orphansAreDue: boolean
  /** The last check by any process, if there was one. */
  readonly check: { readonly count: number; readonly checkedAt: Date } | undefined
}

export interface MaintenancePeriods {
  readonly everyMs: number
  readonly orphansEveryMs: number
}

export function createMaintenanceLease(
  sql: Sql,
  instanceId: string,
  { everyMs, orphansEveryMs }: MaintenancePeriods,
) {
  return {
    /** Takes over the maintenance if it is due and no other living process does it. */
    async claim(): Promise<Claim> {
      const [row] = await sql.query<ClaimRow>(CLAIM, [instanceId, everyMs, orphansEveryMs])
      const { orphans_are_due = null, drifts = null, drift_checked_at = null } = row ?? {}
      return {
        isClaimed: orphans_are_due !== null,
        orphansAreDue: orphans_are_due === true,
        check:
          drifts === null || drift_checked_at === null
            ? undefined
            : { count: drifts, checkedAt: drift_checked_at },
      }
    },
    /** Whether the maintenance is still this process's: another one takes it if this one was suspended for a whole lease. */
    async isHeld(): Promise<boolean> {
      const rows = await sql.query(HELD, [instanceId])
      return rows.length > 0
    },
    /** Records how many equations did not hold in a check; returns when that was, or undefined if another process took over. */
    async recordCheck(drifts: number): Promise<Date | undefined> {
      const [row] = await sql.query<{ drift_checked_at: Date }>(RECORD_CHECK, [instanceId, drifts])
      return row?.drift_checked_at
    },
    /** Ends the maintenance, which is due again after its period. */
    async end({ orphans }: { readonly orphans: boolean }): Promise<void> {
      await sql.query(END, [instanceId, orphans])
    },
  }
}

interface ClaimRow {
  /** Null if the maintenance was not claimed. */
  readonly orphans_are_due: boolean | null
  readonly drifts: number | null
  readonly drift_checked_at: Date | null
}

/**
 * `$1`: this instance, `$2`: the period, `$3`: that of the comparison of files, both in milliseconds. An instance that did not
 * write the end of its maintenance, for want of a database, begins again.
 */
const CLAIM = `
WITH claimed AS (
  INSERT INTO maintenance AS m (id, holder, started_at)
  VALUES (1, $1::uuid, now())
  ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, started_at = excluded.started_at, ended_at = NULL
  WHERE CASE WHEN m.ended_at IS NOT NULL THEN m.ended_at <= now() - $2 * interval '1 millisecond'
    ELSE m.holder = $1::uuid OR NOT EXISTS (
      SELECT FROM instances i WHERE i.id = m.holder AND i.stopped_at IS NULL AND i.lease_until > now()) END
  RETURNING m.orphans_at IS NULL OR m.orphans_at <= now() - $3 * interval '1 millisecond' AS orphans_are_due
)
SELECT (SELECT orphans_are_due FROM claimed), m.drifts, m.drift_checked_at
FROM (SELECT) one LEFT JOIN maintenance m ON m.id = 1`

const MINE = 'WHERE id = 1 AND holder = $1::uuid AND ended_at IS NULL'
const HELD = `SELECT FROM maintenance ${MINE}`
const RECORD_CHECK = `UPDATE maintenance SET drifts = $2, drift_checked_at = now() ${MINE} RETURNING drift_checked_at`
const END = `UPDATE maintenance SET ended_at = now(), orphans_at = CASE WHEN $2 THEN now() ELSE orphans_at END ${MINE}`
