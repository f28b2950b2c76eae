import type { Sql } from './database.ts'

/**
 * Who holds the lock for which statements of the gateway wait in a database on a server: its process id there, and as far as this
 * role may see it the program, what it does, and since when its transaction is open, so that one holder has one text at every look. Undefined if no statement waits.
 */
export async function findLockHolder(sql: Sql): Promise<string | undefined> {
  const [holder] = await sql.query<Holder>(HOLDER)
  if (holder === undefined) return undefined
  const { pid, name, state, since } = holder
  const open = since === null ? undefined : `its transaction open since ${since}`
  const known = [name, state, open].filter((each) => each !== null && each !== undefined && each !== '')
  return known.length === 0 ? `process ${pid}` : `process ${pid} (${known.join(', ')})`
}

interface Holder {
  readonly pid: number
  readonly name: string | null
  readonly state: string | null
  readonly since: string | null
}

/** One that waits itself holds up nobody: what it waits for does. */
const HOLDER = `
SELECT holder.pid, holder.application_name AS name, holder.state,
  to_char(holder.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since
FROM pg_stat_activity waiting
CROSS JOIN LATERAL unnest(pg_blocking_pids(waiting.pid)) AS blocking(pid)
JOIN pg_stat_activity holder ON holder.pid = blocking.pid
WHERE waiting.datname = current_database() AND waiting.application_name = 'trunkline'
  AND waiting.wait_event_type = 'Lock' AND holder.wait_event_type IS DISTINCT FROM 'Lock'
ORDER BY holder.xact_start LIMIT 1`
