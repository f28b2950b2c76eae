import pg from 'pg'

export interface GraphqlData {
  /** Adds a call of today to each key. */
  addCall(): Promise<void>
  /** The number of transactions of the database so far, about. */
  transactions(): Promise<number>
  close(): Promise<void>
}

/** Fills the rollups of the user `bench` with 31 days of four agents, each with two outcomes and full histograms. */
export async function createGraphqlData(url: string): Promise<GraphqlData> {
  const session = new pg.Client({ connectionString: url })
  await session.connect()
  await session.query(FILL)
  await session.query('VACUUM ANALYZE')
  return {
    async addCall() {
      await session.query(ADD)
    },
    async transactions() {
      const { rows } = await session.query<{ count: string }>(TRANSACTIONS)
      return Number(rows[0]?.count)
    },
    close: () => session.end(),
  }
}

const FILL = `
INSERT INTO rollups (span, grain, subject, bucket, kind, agent, app, model, outcome,
  calls, token_calls, prompt_tokens, completion_tokens, total_tokens, first_chunk, duration)
SELECT 'day', g.grain::rollup_grain, g.subject, date_trunc('day', now(), 'UTC') - day * interval '1 day', 'chat', agent, '', 'bench-1',
  outcome, 40, 40, 4000, 2000, 6000, histogram, histogram
FROM (
  SELECT 'owner' AS grain, id::text AS subject FROM users WHERE username = 'bench'
  UNION ALL SELECT 'key', k.id::text FROM api_keys k JOIN users u ON u.id = k.owner_id WHERE u.username = 'bench'
  UNION ALL SELECT 'all', '') AS g,
  generate_series(0, 30) AS day,
  unnest(ARRAY['fastgpt', 'hiagent', 'dify', 'coze']) AS agent,
  unnest(ARRAY['done', 'upstream_error']) AS outcome,
  (SELECT jsonb_object_agg(cell, 1) AS histogram FROM generate_series(40, 79) AS cell) AS h`

const ADD = `
INSERT INTO rollups AS r (span, grain, subject, bucket, kind, agent, app, model, outcome,
  calls, token_calls, prompt_tokens, completion_tokens, total_tokens, first_chunk, duration)
SELECT 'day', 'key', id::text, date_trunc('day', now(), 'UTC'), 'chat', 'dify', '', 'bench-1', 'done',
  1, 1, 10, 10, 20, '{"50": 1}', '{"60": 1}'
FROM api_keys
ON CONFLICT (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome) DO UPDATE SET calls = r.calls + 1`

/** Of the statements, every one is a transaction. Sessions report theirs about once a second. */
const TRANSACTIONS =
  'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()'
