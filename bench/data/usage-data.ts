import pg from 'pg'
import { FILL_ROLLUPS } from './fill-rollups.ts'

export const DAYS = 400
export const USERS = 200
export const KEYS = 1_000
/** Number of sessions among which the load is divided by months. */
const SESSIONS = 2

export interface UsageDataOptions {
  readonly keys?: number
  /** Whether the two large tables are logged, which takes longer; only measured statements that write need it. */
  readonly isLogged?: boolean
}

/** Fills a migrated database without calls. */
export async function createUsageData(url: string, { keys = KEYS, isLogged = false }: UsageDataOptions = {}) {
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => openSession(url)))
  const [session] = sessions as [pg.Client]
  if (!isLogged) await session.query(UNLOGGED)
  for (const statement of [people(keys), fillCalls(keys), ...FILL_ROLLUPS]) await session.query(statement)
  const { rows: months } = await session.query<{ month: Date }>(MONTHS)

  /** Each session takes the next free month, of the last ones if so many are given. */
  async function eachMonth(statement: string, values: readonly unknown[], last = months.length) {
    const left = months.slice(-last).map(({ month }) => month)
    await Promise.all(
      sessions.map(async (client) => {
        for (let month = left.shift(); month !== undefined; month = left.shift()) {
          await client.query(statement, [month, ...values])
        }
      }),
    )
  }

  return {
    /** Adds the calls `first`, `first + step`, … below `total`, spread evenly over the days, so a second load doubles every day. */
    async loadCalls(total: number, first: number, step: number): Promise<void> {
      await withoutIndexes(sessions, 'calls', () =>
        eachMonth('SELECT fill_calls($1, $2, $3, $4)', [total, first, step]),
      )
    },
    /** Rebuilds the rollups of all months or the last ones, and all counters, with the same arithmetic as the settlement. */
    async rollUp(lastMonths?: number): Promise<void> {
      await session.query('TRUNCATE rollups')
      await withoutIndexes(sessions, 'rollups', () => eachMonth('SELECT fill_rollups($1)', [], lastMonths))
      for (const statement of COUNTERS) await session.query(statement)
    },
    /** Returns the sizes of the two tables as readable text. */
    async sizes(): Promise<string> {
      const { rows } = await session.query<{ size: string }>(SIZES)
      return rows.map(({ size }) => size).join(', ')
    },
    async close(): Promise<void> {
      await Promise.all(sessions.map((client) => client.end()))
    },
  }
}

async function openSession(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query(
    `SET TimeZone = 'UTC'; SET work_mem = '512MB'; SET maintenance_work_mem = '512MB'; SET jit = off`,
  )
  return client
}

/** Indexes are created after the load, because sorting once is several times faster than inserting row by row. */
async function withoutIndexes(
  sessions: readonly pg.Client[],
  table: string,
  fill: () => Promise<void>,
): Promise<void> {
  const [session] = sessions as [pg.Client]
  const { rows: indexes } = await session.query<{ drop: string; create: string; isKey: boolean }>(INDEXES, [
    table,
  ])
  for (const { drop } of indexes) await session.query(drop)
  await fill()
  const left = indexes.map(({ create }) => create)
  await Promise.all(
    sessions.map(async (client) => {
      for (let create = left.shift(); create !== undefined; create = left.shift()) await client.query(create)
    }),
  )
  for (const { isKey } of indexes)
    if (isKey) await session.query(`ALTER TABLE ${table} ADD PRIMARY KEY USING INDEX ${table}_pkey`)
  await session.query(`VACUUM ANALYZE ${table}`)
}

const INDEXES = `
SELECT pg_get_indexdef(i.indexrelid) AS create, i.indisprimary AS "isKey",
  CASE WHEN i.indisprimary THEN format('ALTER TABLE %s DROP CONSTRAINT %I', i.indrelid::regclass, c.relname)
    ELSE format('DROP INDEX %I', c.relname) END AS drop
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = $1::regclass`

const UNLOGGED = 'ALTER TABLE calls SET UNLOGGED; ALTER TABLE rollups SET UNLOGGED'

/** Ids contain their number, so that the owner of a call's key can be computed. */
const people = (keys: number) => `
CREATE FUNCTION bench_id(kind text, n int) RETURNS uuid LANGUAGE sql IMMUTABLE
  RETURN (kind || lpad(n::text, 6, '0') || '-0000-7000-8000-000000000000')::uuid;
INSERT INTO users (id, username, username_key, password_hash, role, max_api_calls, created_at, updated_at)
SELECT bench_id('aa', n), 'user-' || n, 'user-' || n, '', 'user', 1e12, now(), now()
FROM generate_series(0, ${USERS - 1}) n;
INSERT INTO api_keys (id, hash, prefix, name, name_key, description, permissions, owner_id, created_by_id, created_at, expires_at)
SELECT bench_id('bb', n), sha256(n::text::bytea), 'tl_', 'key-' || n, 'key-' || n, '', '{chat,upload}',
  bench_id('aa', n % ${USERS}), bench_id('aa', n % ${USERS}), now(), now() + interval '1 year'
FROM generate_series(0, ${keys - 1}) n`

const MONTHS = `
SELECT generate_series(date_trunc('month', now() - interval '${DAYS} days'), now(), interval '1 month') AS month`

/**
 * Inserts the calls of one month in order of time, between 8:00 and 20:00 of every day. Few keys make most of the calls
 * (the n-th key a share proportional to 1 / n), one key in five names end users, durations are log-normal, and nineteen of
 * twenty calls succeed.
 */
const fillCalls = (keys: number) => `
CREATE FUNCTION fill_calls(month timestamptz, total int, first int, step int) RETURNS void LANGUAGE sql AS $$
INSERT INTO calls (id, request_id, key_id, owner_id, end_user, kind, face, agent, app, model, conversation, instance,
  outcome, reason, prompt_tokens, completion_tokens, total_tokens, admitted_at, first_chunk_ms, duration_ms, ended_at)
SELECT overlay(overlay(md5(n::text) PLACING '8' FROM 17)
    PLACING lpad(to_hex((extract(epoch FROM at) * 1000)::int8), 12, '0') || '7' FROM 1)::uuid,
  md5('request' || n), bench_id('bb', k), bench_id('aa', k % ${USERS}),
  CASE WHEN k % 5 = 4 THEN 'end-user-' || (random() * 20)::int ELSE '' END,
  CASE WHEN luck % 40 = 0 THEN 'upload' ELSE 'chat' END, 'rest',
  (ARRAY['fastgpt', 'hiagent', 'dify', 'coze', 'local'])[1 + k % 5], 'app-' || k / ${USERS} % 3,
  CASE WHEN outcome IN ('done', 'client_gone') THEN (ARRAY['model-large', 'model-small'])[CASE WHEN luck % 10 = 0 THEN 2 ELSE 1 END] END,
  md5('conversation' || n / 8), bench_id('cc', 0),
  outcome, CASE WHEN outcome <> 'done' THEN outcome END,
  CASE WHEN outcome = 'done' THEN 40 + luck END, CASE WHEN outcome = 'done' THEN luck / 2 END,
  CASE WHEN outcome = 'done' THEN 40 + luck + luck / 2 END,
  at, CASE WHEN outcome IN ('done', 'client_gone') THEN duration_ms / 4 END, duration_ms,
  at + duration_ms * interval '1 millisecond'
FROM (
  SELECT n, (random() * 1000)::int AS luck, floor(${keys} ^ random())::int - 1 AS k,
    (exp(8.3 + 0.8 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())))::int AS duration_ms,
    CASE WHEN random() < 0.95 THEN 'done' ELSE
      (ARRAY['client_gone', 'client_gone', 'upstream_error', 'timeout', 'rejected'])[1 + floor(random() * 5)::int] END AS outcome,
    date_trunc('day', now()) + (n::int8 * ${DAYS} / total - ${DAYS}) * interval '1 day'
      + interval '8 hours' + n::int8 * ${DAYS} % total * interval '12 hours' / total AS at
  FROM generate_series(
    greatest(0, ceil(total * (extract(epoch FROM month - date_trunc('day', now())) / 86400 + ${DAYS}) / ${DAYS}))::int,
    least(total, ceil(total * (extract(epoch FROM month + interval '1 month' - date_trunc('day', now())) / 86400 + ${DAYS})
      / ${DAYS}))::int - 1) n
  WHERE n % step = first
) AS call
ORDER BY n
$$`

const SIZES = `
SELECT format('%s %s rows, %s and %s of indexes', relname, reltuples::int8,
  pg_size_pretty(pg_relation_size(oid)), pg_size_pretty(pg_indexes_size(oid))) AS size
FROM pg_class WHERE relname IN ('calls', 'rollups') ORDER BY relname`

const COUNTERS = [
  `UPDATE api_keys k SET total_calls = r.calls
   FROM (SELECT subject, sum(calls) AS calls FROM rollups WHERE span = 'month' AND grain = 'key' GROUP BY subject) r
   WHERE k.id::text = r.subject`,
  `UPDATE users u SET api_calls_count = r.calls
   FROM (SELECT subject, sum(calls) AS calls FROM rollups
         WHERE span = 'month' AND grain = 'owner' AND kind = 'chat' GROUP BY subject) r
   WHERE u.id::text = r.subject`,
  'VACUUM ANALYZE users, api_keys',
]
