import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { MigrationConnection } from '../../apps/gateway/src/core/database/migrations/migration-connection.ts'
import { runStep } from '../../apps/gateway/src/core/database/migrations/run-step.ts'
import { openDatabase } from '../../apps/gateway/src/core/database/open.ts'
import { openPool, poolSql } from '../../apps/gateway/src/core/database/pool.ts'
import { createLedger, type Ledger } from '../../apps/gateway/src/core/ledger/ledger.ts'
import { systemRuntime } from '../../apps/gateway/src/core/runtime.ts'
import { printTable } from '../figures/print-table.ts'
import { quantile } from '../figures/quantile.ts'
import type { Stage } from '../stage.ts'

const CALLS = 1_000_000
const CALLS_QUICK = 100_000
const EVERY_MS = 50
const WATCH_EVERY_MS = 5
/** How long a transaction keeps the table from the migration, as a report or a backup does. */
const HELD_MS = 3_000
const KEY = hash('sha256', 'the key of the bench', 'hex')
const OWNER = '01999999-0000-7000-8000-000000000001'
const KEY_ID = '01999999-0000-7000-8000-000000000002'

const COLUMN = 'ALTER TABLE calls ADD COLUMN region text'
/** All rows would take minutes, and the last slices wait no longer than the first. */
const FILLED = 20_000
const slicesUpTo = (last: string) => `-- slices
WITH slice AS MATERIALIZED (
  SELECT id FROM calls WHERE id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000') AND id <= '${last}' ORDER BY id LIMIT 500
), filled AS (
  UPDATE calls c SET region = 'west' FROM slice s WHERE c.id = s.id AND c.region IS NULL
)
SELECT id FROM slice ORDER BY id DESC LIMIT 1`

interface Step {
  readonly name: string
  readonly script: string
  /** Whether a transaction of somebody else reads the table when the step begins. */
  readonly isHeld?: boolean
  /** Runs it as it is, without any of the care that migrations take. */
  readonly isPlain?: boolean
}

const stepsOf = (last: string): readonly Step[] => [
  { name: 'nothing', script: 'SELECT pg_sleep(5)' },
  { name: 'a column', script: COLUMN },
  {
    name: 'a column, while a transaction reads for 3 s',
    script: 'ALTER TABLE calls ADD COLUMN zone text',
    isHeld: true,
  },
  { name: 'an index, built CONCURRENTLY', script: 'CREATE INDEX CONCURRENTLY "bench" ON calls (agent, id)' },
  { name: 'the column filled, in slices of 500', script: slicesUpTo(last) },
  {
    name: 'a check, not validated',
    script: "ALTER TABLE calls ADD CONSTRAINT known CHECK (region <> '') NOT VALID",
  },
  { name: 'its validation', script: 'ALTER TABLE calls VALIDATE CONSTRAINT known' },
  { name: 'a column dropped', script: 'ALTER TABLE calls DROP COLUMN zone' },
  { name: 'an index dropped CONCURRENTLY', script: 'DROP INDEX CONCURRENTLY "bench"' },
  {
    name: 'for comparison: an index, built plainly',
    script: 'CREATE INDEX "bench" ON calls (agent, id)',
    isPlain: true,
  },
]

/** How long admissions wait while the ledger is migrated step by step, with twenty calls a second. */
export async function bench(stage: Stage): Promise<void> {
  const calls = Number(stage.options.calls ?? (stage.isQuick ? CALLS_QUICK : CALLS))
  const { url } = await stage.database()
  const database = await openDatabase({ kind: 'server', url, statementTimeoutMs: 60_000 })
  stage.atEnd(() => database.close())
  await database.migrate()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  stage.atEnd(() => client.end())
  await client.query(PEOPLE, [OWNER])
  await client.query(KEYS, [KEY_ID, KEY, OWNER])
  await fill(client, calls)

  const pool = openPool({ connectionString: url, max: 1, idleTimeoutMillis: 0 })
  stage.atEnd(() => pool.end())
  const connection: MigrationConnection = {
    sql: poolSql(pool),
    isShared: true,
    runScript: (script) => pool.query(script),
    adapter: () => Promise.reject(new Error('no step needs it')),
  }
  const ledger = createLedger({
    sql: database.lanes.settlements,
    admissionSql: database.lanes.admissions,
    runtime: systemRuntime,
    instanceId: systemRuntime.newId(),
    observer: { batch: () => undefined, settleFailed: (error) => console.error(error) },
  })
  const lines: string[][] = []
  const { rows } = await client.query<{ id: string }>('SELECT id FROM calls ORDER BY id LIMIT 1 OFFSET $1', [
    FILLED,
  ])
  for (const step of stepsOf(rows[0]?.id ?? ''))
    lines.push(await measure(step, { ledger, client, connection }))
  await ledger.close(60_000)
  printTable('step | took | admissions | median wait | longest wait | for a lock', lines)
}

async function fill(client: pg.Client, calls: number): Promise<void> {
  await client.query('SET synchronous_commit = off')
  const startedMs = performance.now()
  // Indexes are built in a third of the time that it takes to maintain them row by row.
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(INDEXES)
  await client.query('ALTER TABLE calls DROP CONSTRAINT calls_pkey')
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`)
  for (let first = 0; first < calls; first += 100_000) {
    await client.query(FILL, [first, Math.min(first + 100_000, calls) - 1, KEY_ID, OWNER])
  }
  await client.query("SET maintenance_work_mem = '512MB'; ALTER TABLE calls ADD PRIMARY KEY (id)")
  for (const { definition } of indexes) await client.query(definition)
  const seconds = (performance.now() - startedMs) / 1_000
  await client.query('VACUUM ANALYZE calls')
  const { rows } = await client.query<{ table: string; indexes: string; bytes: string }>(SIZE)
  const [size] = rows
  console.log(
    `${calls} calls, written in ${seconds.toFixed(0)} s: table ${size?.table}, indexes ${size?.indexes}, ${(Number(size?.bytes) / calls).toFixed(0)} bytes a call.`,
  )
}

async function measure(
  { name, script, isHeld = false, isPlain = false }: Step,
  { ledger, client, connection }: { ledger: Ledger; client: pg.Client; connection: MigrationConnection },
): Promise<string[]> {
  const waits: Promise<number>[] = []
  let isRunning = true
  const admitting = (async () => {
    while (isRunning) {
      waits.push(admit(ledger))
      await sleep(EVERY_MS)
    }
  })()
  const watch = watchLocks(client)
  await sleep(500)
  if (isHeld) await client.query('BEGIN; SELECT FROM calls LIMIT 1')
  const startedMs = performance.now()
  const working = isPlain ? connection.runScript(script) : runStep(script, connection, { finish: 'SELECT 1' })
  if (isHeld) {
    await sleep(HELD_MS)
    await client.query('COMMIT')
  }
  await working
  const tookMs = performance.now() - startedMs
  await sleep(500)
  isRunning = false
  await admitting
  const lockedMs = await watch.stop()
  const sorted = (await Promise.all(waits)).sort((one, other) => one - other)
  return [
    name,
    `${(tookMs / 1_000).toFixed(2)} s`,
    String(sorted.length),
    `${quantile(sorted, 0.5).toFixed(1)} ms`,
    `${(sorted.at(-1) ?? 0).toFixed(0)} ms`,
    `${lockedMs.toFixed(0)} ms`,
  ]
}

async function admit(ledger: Ledger): Promise<number> {
  const callId = systemRuntime.newId()
  const startedMs = performance.now()
  const answer = ledger.admit({
    callId,
    requestId: callId,
    keyHash: KEY,
    kind: 'chat',
    face: 'rest',
    agent: 'dify',
    app: '',
    endUser: '',
    conversation: callId,
  })
  const isAdmitted = await answer.then(
    () => true,
    () => false,
  )
  const waitedMs = performance.now() - startedMs
  // It was refused after two seconds, and is settled by the ledger itself.
  if (!isAdmitted) return waitedMs
  ledger.settle({
    callId,
    outcome: 'done',
    model: 'm',
    durationMs: 1_000,
    firstChunkMs: 100,
    totalTokens: 10,
  })
  return waitedMs
}

/** The longest time that a session of the ledger has waited for a lock of a table, seen every few milliseconds. */
function watchLocks(client: pg.Client): { stop(): Promise<number> } {
  let longestMs = 0
  let isWatching = true
  const watching = (async () => {
    while (isWatching) {
      const { rows } = await client.query<{ ms: number | null }>(LOCK_WAIT)
      longestMs = Math.max(longestMs, rows[0]?.ms ?? 0)
      await sleep(WATCH_EVERY_MS)
    }
  })()
  return {
    async stop() {
      isWatching = false
      await watching
      return longestMs
    },
  }
}

/** The session of the migration waits as well: its mode is one that excludes others, or it waits for transactions. */
const LOCK_WAIT = `
SELECT max(extract(epoch FROM clock_timestamp() - waitstart) * 1000)::float8 AS ms
FROM pg_locks
WHERE NOT granted AND relation = 'calls'::regclass AND mode IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')`

const INDEXES = `
SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename = 'calls' AND indexname <> 'calls_pkey'`

const PEOPLE = `
INSERT INTO users (id, username, username_key, password_hash, role, max_api_calls, created_at, updated_at)
VALUES ($1, 'bench', 'bench', '', 'user', 1e12, now(), now())`

const KEYS = `
INSERT INTO api_keys (id, hash, prefix, name, name_key, description, permissions, owner_id, created_by_id, created_at, expires_at)
VALUES ($1, decode($2, 'hex'), 'tl_', 'bench', 'bench', '', '{chat}', $3, $3, now(), now() + interval '1 day')`

/** Calls of a hundred days, in the order in which a gateway writes them. */
const FILL = `
INSERT INTO calls (id, request_id, key_id, owner_id, kind, face, agent, app, model, conversation, instance, outcome,
  prompt_tokens, completion_tokens, total_tokens, admitted_at, first_chunk_ms, duration_ms, ended_at)
SELECT overlay(overlay(md5(n::text) PLACING '8' FROM 17)
    PLACING lpad(to_hex((extract(epoch FROM at) * 1000)::int8), 12, '0') || '7' FROM 1)::uuid,
  md5('request' || n)::uuid::text, $3, $4, 'chat', 'rest', 'dify', 'app-1', 'model-large', md5('conversation' || n / 8),
  $3, 'done', 100, 200, 300, at, 400, 4000, at + interval '4 seconds'
FROM (
  SELECT n, now() - interval '100 days' + n * interval '0.8 s' AS at FROM generate_series($1::int, $2::int) AS n
) AS call`

const SIZE = `
SELECT pg_size_pretty(pg_table_size('calls')) AS table, pg_size_pretty(pg_indexes_size('calls')) AS indexes,
  pg_total_relation_size('calls') AS bytes`
