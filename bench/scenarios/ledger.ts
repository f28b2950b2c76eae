import { hash, randomBytes, randomUUIDv7 } from 'node:crypto'
import pg from 'pg'
import { systemRuntime } from '../../apps/gateway/src/core/base/runtime.ts'
import type { Database } from '../../apps/gateway/src/core/database/database.ts'
import { openDatabase } from '../../apps/gateway/src/core/database/open.ts'
import type { Admission } from '../../apps/gateway/src/core/ledger/admission-row.ts'
import { createLedger, type Ledger } from '../../apps/gateway/src/core/ledger/ledger.ts'
import { printTable } from '../figures/print-table.ts'
import type { Stage } from '../stage.ts'

const USERS = 20
const KEYS = 100
const AGENTS = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai']
const CALLS = 6_000
const CALLS_QUICK = 600
const AT_A_TIME = [1, 8, 32, 128, 512]
const A_DAY_MS = 86_400_000

/**
 * What admissions and settlements cost in PostgreSQL, by the number of concurrent calls. It runs the ledger alone, without HTTP
 * and platforms.
 */
export async function bench(stage: Stage): Promise<void> {
  const calls = stage.isQuick ? CALLS_QUICK : CALLS
  const scratch = await stage.database()
  const database = await openDatabase({ kind: 'server', url: scratch.url })
  stage.atEnd(() => database.close())
  await database.migrate()
  const client = new pg.Client({ connectionString: scratch.url })
  await client.connect()
  stage.atEnd(() => client.end())
  const keys = await createKeys(client)
  // Creates the plans and statistics of a gateway that has run for a while.
  await load(database, keys, 32, calls)
  await scratch.analyze()

  console.log(`PostgreSQL ${scratch.version}; ${KEYS} keys of ${USERS} users, ${AGENTS.length} agents.`)
  const rows: string[][] = []
  for (const atATime of AT_A_TIME) {
    await client.query('CHECKPOINT')
    const before = await walBytes(client)
    const { seconds, admit, settle } = await load(database, keys, atATime, atATime === 1 ? calls / 6 : calls)
    const kib = ((await walBytes(client)) - before) / 1024 / admit.calls
    rows.push([
      String(atATime),
      String(Math.round(admit.calls / seconds)),
      ...cellsOf(admit),
      ...cellsOf(settle),
      `${kib.toFixed(1)} KiB`,
    ])
  }
  printTable(
    'calls at a time | calls/s | in an admission | its time | in a settlement | its time | WAL a call',
    rows,
  )
}

type Key = Pick<Admission, 'keyId' | 'keyHash'>

interface Batches {
  calls: number
  statements: number
  ms: number
}

function cellsOf({ calls, statements, ms }: Batches): string[] {
  return [(calls / statements).toFixed(1), `${(ms / statements).toFixed(1)} ms`]
}

/** Admits and settles calls from concurrent callers, which wait for their admission but not for the settlement. */
async function load(
  { lanes }: Pick<Database, 'lanes'>,
  keys: readonly Key[],
  atATime: number,
  calls: number,
) {
  const batches = { admit: none(), settle: none() }
  const ledger = createLedger({
    sql: lanes.settlements,
    admissionSql: lanes.admissions,
    runtime: systemRuntime,
    instanceId: randomUUIDv7(),
    observer: {
      batch(statement, { length }, ms) {
        const sums = batches[statement]
        sums.calls += length
        sums.statements += 1
        sums.ms += ms
      },
      settleFailed(error) {
        throw error
      },
    },
  })
  const startedMs = performance.now()
  let left = calls
  const caller = async () => {
    while (left > 0) {
      left -= 1
      await call(ledger, keys[left % keys.length] as Key, AGENTS[left % AGENTS.length] as string)
    }
  }
  await Promise.all(Array.from({ length: atATime }, caller))
  const seconds = (performance.now() - startedMs) / 1_000
  await ledger.close(60_000)
  return { seconds, ...batches }
}

function none(): Batches {
  return { calls: 0, statements: 0, ms: 0 }
}

async function call(ledger: Ledger, key: Key, agent: string): Promise<void> {
  const callId = randomUUIDv7()
  await ledger.admit({
    callId,
    requestId: callId,
    ...key,
    address: '',
    kind: 'chat',
    face: 'rest',
    agent,
    app: '',
    endUser: '',
    conversation: callId,
  })
  const durationMs = Math.round(200 * 50 ** Math.random())
  ledger.settle({
    callId,
    outcome: 'done',
    deployment: 'main',
    attempts: 1,
    model: 'model-large',
    promptTokens: 40,
    completionTokens: 200,
    totalTokens: 240,
    firstChunkMs: durationMs / 4,
    durationMs,
  })
}

async function createKeys(client: pg.Client): Promise<Key[]> {
  const users = Array.from({ length: USERS }, () => randomUUIDv7())
  const keys = Array.from({ length: KEYS }, () => ({
    keyId: randomUUIDv7(),
    keyHash: hash('sha256', randomBytes(32), 'hex'),
  }))
  for (const [index, id] of users.entries()) {
    await client.query(
      `INSERT INTO users (id, username, username_key, password_hash, role, max_api_calls, quota_period, created_at, updated_at)
       VALUES ($1, $2, $2, '', 'user', 1e12, 'month', now(), now())`,
      [id, `user-${index}`],
    )
  }
  for (const [index, { keyId, keyHash }] of keys.entries()) {
    await client.query(
      `INSERT INTO api_keys (id, hash, prefix, name, name_key, description, permissions, owner_id, created_by_id, created_at, expires_at)
       VALUES ($1, $2, 'tl_', $3, $3, '', '{chat}', $4, $4, now(), $5)`,
      [
        keyId,
        Buffer.from(keyHash, 'hex'),
        `key-${index}`,
        users[index % USERS],
        new Date(Date.now() + A_DAY_MS),
      ],
    )
  }
  return keys
}

async function walBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes",
  )
  return Number(rows[0]?.bytes)
}
