import type { Sql } from './database.ts'

/**
 * Who holds the lock for which statements of the gateway wait in a database on a server: its process id there, and as far as this
 * role may see it the program, what it does, and for how long its transaction has been open. Undefined if no statement waits.
 */
export async function findLockHolder(sql: Sql): Promise<string | undefined> {
  const [holder] = await sql.query<Holder>(HOLDER)
  if (holder === undefined) return undefined
  const { pid, name, state, seconds } = holder
  const open = seconds === null ? undefined : `its transaction open for ${seconds} s`
  const known = [name, state, open].filter((each) => each !== null && each !== undefined && each !== '')
  return known.length === 0 ? `process ${pid}` : `process ${pid} (${known.join(', ')})`
}

interface Holder {
  readonly pid: number
  readonly name: string | null
  readonly state: string | null
  readonly seconds: number | null
}

/** One that waits itself holds up nobody: what it waits for does. */
const HOLDER = `
SELECT holder.pid, holder.application_name AS name, holder.state,
  extract(epoch FROM clock_timestamp() - holder.xact_start)::int AS seconds
FROM pg_stat_activity waiting
CROSS JOIN LATERAL unnest(pg_blocking_pids(waiting.pid)) AS blocking(pid)
JOIN pg_stat_activity holder ON holder.pid = blocking.pid
WHERE waiting.datname = current_database() AND waiting.application_name = 'trunkline'
  AND waiting.wait_event_type = 'Lock' AND holder.wait_event_type IS DISTINCT FROM 'Lock'
ORDER BY holder.xact_start LIMIT 1`
