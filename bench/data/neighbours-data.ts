import type { Sql } from '../../apps/gateway/src/core/database/database.ts'
import { openDatabase } from '../../apps/gateway/src/core/database/open.ts'
import type { ScratchDatabase } from '../servers/scratch-database.ts'

/** The name of the tenant that sends the load. */
export const BUSY = 'busy'

const KEYS = 20
const CALLS = 20_000
const ROLLUPS = 50_000

/** Gives the busy tenant keys, a ledger and rollups. */
export async function fillTenant(scratch: ScratchDatabase | undefined, dataDir: string): Promise<void> {
  const database =
    scratch === undefined
      ? await openDatabase({ kind: 'embedded', dataDir: dataDir })
      : await openDatabase({ kind: 'server', url: scratch.url, statementTimeoutMs: 60_000 })
  try {
    await fillBy(database.sql)
  } finally {
    await database.close()
  }
  await scratch?.analyze()
}

async function fillBy(sql: Sql): Promise<void> {
  await sql.query(FILL_KEYS, [KEYS, BUSY])
  await sql.query(FILL_CALLS, [CALLS, BUSY])
  await sql.query(FILL_ROLLUPS, [ROLLUPS, BUSY])
}

const FILL_KEYS = `
INSERT INTO api_keys (id, hash, prefix, name, name_key, description, permissions, owner_id, created_by_id, created_at, expires_at)
SELECT gen_random_uuid(), sha256(n::text::bytea), 'tl_', 'key-' || n, 'key-' || n, '', '{chat}', u.id, u.id, now(), now() + interval '1 day'
FROM users u, generate_series(1, $1::int) n WHERE u.username = $2`

const FILL_CALLS = `
INSERT INTO calls (id, request_id, key_id, owner_id, end_user, kind, face, agent, app, model, conversation, instance,
  outcome, prompt_tokens, completion_tokens, total_tokens, admitted_at, first_chunk_ms, duration_ms, ended_at)
SELECT overlay(md5(n::text) PLACING lpad(to_hex((extract(epoch FROM now() - n * interval '1 minute') * 1000)::int8), 12, '0') || '7' FROM 1)::uuid,
  md5('request' || n), k.id, k.owner_id, '', 'chat', 'rest', 'bench', '', 'bench-1', md5('conversation' || n),
  gen_random_uuid(), 'done', 10, 20, 30, now() - n * interval '1 minute', 100, 900, now() - n * interval '1 minute'
FROM (SELECT k.id, k.owner_id FROM api_keys k JOIN users u ON u.id = k.owner_id WHERE u.username = $2 LIMIT 1) k,
  generate_series(1, $1::int) n`

/** Thirty days of calls with thousands of apps. */
const FILL_ROLLUPS = `
INSERT INTO rollups (span, grain, subject, bucket, kind, agent, app, model, outcome,
  calls, token_calls, prompt_tokens, completion_tokens, total_tokens, first_chunk, duration)
SELECT 'day', 'owner', u.id::text, date_trunc('day', now(), 'UTC') - n % 30 * interval '1 day', 'chat', 'bench', 'app-' || n / 30,
  'bench-1', 'done', 10, 10, 100, 100, 200, '{"40":3,"41":2,"45":1,"50":4}', '{"60":3,"61":2,"65":1,"70":4}'
FROM users u, generate_series(0, $1::int - 1) n WHERE u.username = $2`
