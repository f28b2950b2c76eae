import pg from 'pg'

const KEYS = 1_000_000
const UNUSED = 300
/** The ids are in the order of their numbers. */
const PREFIX = '018e0000-0000-7000-8000-'
const EVERY = Math.floor(KEYS / UNUSED)

/**
 * Adds a million keys of a thousand users. They were made a year ago and used today, apart from a few that were never used, and a few
 * that soon expire.
 */
export async function fillKeys(databaseUrl: string): Promise<void> {
  await onDatabase(databaseUrl, [OWNERS, WITHOUT_AUDIT, FILL, WITH_AUDIT])
}

/** Leaves the oldest tenth of the keys unused for half a year. */
export async function leaveOldestUnused(databaseUrl: string): Promise<void> {
  await leaveUnused(databaseUrl, `id < '${PREFIX}${(KEYS / 10).toString(16).padStart(12, '0')}'`)
}

/** Leaves nearly all of the keys unused for half a year. */
export async function leaveMostUnused(databaseUrl: string): Promise<void> {
  await leaveUnused(databaseUrl, "id::text !~ '0$'")
}

async function leaveUnused(databaseUrl: string, which: string): Promise<void> {
  await onDatabase(databaseUrl, [WITHOUT_AUDIT, `${LEAVE_UNUSED} AND ${which}`, WITH_AUDIT])
}

/** @param statements - run one after the other */
async function onDatabase(databaseUrl: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

// The audit log has an event of each new key.
const WITHOUT_AUDIT = 'ALTER TABLE api_keys DISABLE TRIGGER USER'
const WITH_AUDIT = 'ALTER TABLE api_keys ENABLE TRIGGER USER'

const OWNERS = `
INSERT INTO users (id, username, username_key, password_hash, role, max_api_calls, created_at, updated_at)
SELECT gen_random_uuid(), 'owner-' || n, 'owner-' || n, 'none', 'premium', 1000, now(), now()
FROM generate_series(1, 1000) AS n`

const FILL = `
WITH owners AS MATERIALIZED (SELECT array_agg(id) AS ids FROM users WHERE username LIKE 'owner-%')
INSERT INTO api_keys (id, hash, prefix, name, name_key, description, permissions, owner_id, created_by_id, created_at, expires_at,
  day_start, day_calls, month_start, month_calls, total_calls, last_used_at)
SELECT ('${PREFIX}' || lpad(to_hex(n), 12, '0'))::uuid, sha256(int8send(n)), 'tl_' || lpad(n::text, 9, '0'),
  'key ' || n, 'key ' || n, 'of the bench', ARRAY['chat'], ids[1 + n % 1000], ids[1 + n % 1000], now() - interval '1 year',
  now() + CASE WHEN n % ${EVERY} = 1 THEN interval '20 days' ELSE interval '1 year' END,
  CASE WHEN is_used THEN date_trunc('day', now(), 'UTC') ELSE '1970-01-01T00:00:00Z' END, 3, date_trunc('month', now(), 'UTC'), 30, 300,
  CASE WHEN is_used THEN now() END
FROM generate_series(1, ${KEYS}) AS n, owners, LATERAL (SELECT n % ${EVERY} > 0 AS is_used) AS use`

const LEAVE_UNUSED = `
UPDATE api_keys SET day_start = date_trunc('day', now() - interval '180 days', 'UTC'), last_used_at = now() - interval '180 days'
WHERE description = 'of the bench'`
