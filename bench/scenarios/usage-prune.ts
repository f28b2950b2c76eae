import pg from 'pg'
import type { Database } from '../../apps/gateway/src/core/database/database.ts'
import { openDatabase } from '../../apps/gateway/src/core/database/open.ts'
import { ampleLimits } from '../../apps/gateway/src/core/limits/limits.test-support.ts'
import { createUsageService } from '../../apps/gateway/src/core/reports/usage.ts'
import { systemRuntime } from '../../apps/gateway/src/core/runtime.ts'
import { printTable } from '../figures/print-table.ts'
import type { Stage } from '../stage.ts'

const DAYS = 60
const DAYS_QUICK = 25
const WINDOW_DAYS = 20
const CALLS_A_DAY = 20_000
/** Number of calls in one statement of a gateway under load. */
const BATCH = 100

/** A valid UUID that is derived from a text, as an expression of SQL. */
const uuidOf = (text: string) =>
  `overlay(overlay(md5(${text}) PLACING '4' FROM 13) PLACING '8' FROM 17)::uuid`

/** Every row is written twice, as in production: once open, then settled. */
const PROCEDURE = `
CREATE PROCEDURE live_a_day(days_ago int) LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz;
  first int;
BEGIN
  FOR batch IN 0 .. ${CALLS_A_DAY / BATCH - 1} LOOP
    first := batch * ${BATCH};
    at := date_trunc('day', now()) - days_ago * interval '1 day' + batch * interval '1 day' / ${CALLS_A_DAY / BATCH};
    INSERT INTO calls (id, request_id, key_id, owner_id, kind, face, agent, app, conversation, instance, admitted_at)
    SELECT overlay(overlay(md5(days_ago || ' ' || n) PLACING '8' FROM 17)
        PLACING lpad(to_hex((extract(epoch FROM at) * 1000)::int8), 12, '0') || '7' FROM 1)::uuid,
      md5('request' || n), ${uuidOf(`'key' || n % 1000`)}, ${uuidOf(`'owner' || n % 200`)}, 'chat', 'rest', 'fastgpt', 'app-1',
      md5('conversation' || n), ${uuidOf(`'instance'`)}, at
    FROM generate_series(first, first + ${BATCH - 1}) n;
    UPDATE calls SET outcome = 'done', model = 'model-large', prompt_tokens = 100, completion_tokens = 200, total_tokens = 300,
      first_chunk_ms = 400, duration_ms = 4000, ended_at = at + interval '4 seconds'
    WHERE outcome IS NULL AND instance = ${uuidOf(`'instance'`)};
    COMMIT;
  END LOOP;
END
$$`

const SIZE = `
SELECT (SELECT count(*) FROM calls) AS rows, pg_size_pretty(pg_relation_size('calls')) AS table,
  pg_size_pretty(pg_indexes_size('calls')) AS indexes`

/**
 * Whether a ledger that is pruned by DELETE keeps its size. Day after day, calls are admitted, settled and, `WINDOW_DAYS` later,
 * pruned, with one VACUUM per day in place of autovacuum.
 */
export async function bench(stage: Stage): Promise<void> {
  const scratch = await stage.database()
  const database = await openDatabase({ kind: 'server', url: scratch.url, statementTimeoutMs: 60_000 })
  stage.atEnd(() => database.close())
  await database.migrate()
  const client = new pg.Client({ connectionString: scratch.url })
  await client.connect()
  stage.atEnd(() => client.end())
  console.log(`${CALLS_A_DAY} calls a day, kept ${WINDOW_DAYS} days.`)
  printTable(
    'day | rows | table | indexes | prune a day | WAL of it | slowest batch',
    await slide(client, database, stage.isQuick ? DAYS_QUICK : DAYS),
  )
}

async function slide(client: pg.Client, database: Database, days: number): Promise<string[][]> {
  await client.query(`SET TimeZone = 'UTC'; SET synchronous_commit = off; ${PROCEDURE}`)
  const lines: string[][] = []
  for (let day = 1; day <= days; day += 1) {
    const daysAgo = days - day + 1
    await client.query(`CALL live_a_day(${daysAgo})`)
    // The clock belongs to the server, so the retention period moves instead.
    const usage = createUsageService({
      database,
      runtime: systemRuntime,
      limits: ampleLimits(),
      config: { retentionDays: daysAgo + WINDOW_DAYS - 1 },
      catalog: { knownIds: () => new Set() },
    })
    const { ms, slowestMs, wal } = await prune(client, () => usage.prune())
    await client.query('VACUUM calls')
    if (day % 5 !== 0) continue
    const { rows } = await client.query<{ rows: string; table: string; indexes: string }>(SIZE)
    const [size] = rows
    lines.push([
      String(day),
      `${size?.rows}`,
      `${size?.table}`,
      `${size?.indexes}`,
      `${ms.toFixed(0)} ms`,
      `${wal}`,
      `${slowestMs.toFixed(0)} ms`,
    ])
  }
  return lines
}

async function prune(client: pg.Client, pruneSome: () => Promise<number>) {
  const { rows: start } = await client.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn')
  let ms = 0
  let slowestMs = 0
  for (let pruned = 1; pruned > 0; ) {
    const startedMs = performance.now()
    pruned = await pruneSome()
    const tookMs = performance.now() - startedMs
    ms += tookMs
    slowestMs = Math.max(slowestMs, tookMs)
  }
  const { rows: end } = await client.query<{ wal: string }>(
    'SELECT pg_size_pretty(pg_current_wal_lsn() - $1::pg_lsn) AS wal',
    [start[0]?.lsn],
  )
  return { ms, slowestMs, wal: end[0]?.wal }
}
