import { createHash } from 'node:crypto'
import { createRememberedKeys } from '@trunkline/gateway/src/core/accounts/keys/key-limits.ts'
import { createKeyWatch } from '@trunkline/gateway/src/core/accounts/keys/key-watch.ts'
import { systemRuntime } from '@trunkline/gateway/src/core/base/runtime.ts'
import { createConversations } from '@trunkline/gateway/src/core/calls/conversation/conversations.ts'
import { createDerivedIds } from '@trunkline/gateway/src/core/calls/conversation/derived-ids.ts'
import { createCallStops } from '@trunkline/gateway/src/core/calls/stop-calls.ts'
import type { Database, Sql } from '@trunkline/gateway/src/core/database/database.ts'
import { openDatabase } from '@trunkline/gateway/src/core/database/open.ts'
import {
  createScratchDatabase,
  openEmptyDatabase,
  type ScratchDatabase,
} from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import type { Admission } from '@trunkline/gateway/src/core/ledger/admission-row.ts'
import { FREE_LATE } from '@trunkline/gateway/src/core/ledger/claiming-admission-sql.ts'
import { createInstances } from '@trunkline/gateway/src/core/ledger/instances.ts'
import { createClaimLookUp } from '@trunkline/gateway/src/core/ledger/kept-claims.ts'
import { createLedger } from '@trunkline/gateway/src/core/ledger/ledger.ts'
import { ampleLimits } from '@trunkline/gateway/src/core/limits/limits.test-support.ts'
import type { Reads, Slices } from '@trunkline/gateway/src/core/limits/sharing/reads.ts'
import { readOrdered } from '@trunkline/gateway/src/core/lists/ordered-lists.ts'
import { inRangesOfIds } from '@trunkline/gateway/src/core/lists/rows-by-id.ts'
import { readRows } from '@trunkline/gateway/src/core/reports/report-source.ts'
import { createUsage } from '@trunkline/gateway/src/core/reports/usage.ts'
import { readTodayUsage } from '@trunkline/gateway/src/core/reports/usage-today.ts'
import type { Principal } from '@trunkline/gateway/src/core/requests/principal.ts'
import { Prisma, type PrismaClient } from '@trunkline/gateway/src/generated/prisma/client.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ExplainedSql, explainEach, longScansOf } from '../support/explain.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const ROWS = 130_000
const TABLES = [
  'users',
  'api_keys',
  'calls',
  'rollups',
  'rollup_names',
  'rollup_name_counts',
  'revoked_tokens',
  'conversations',
  'listed_conversations',
  'conversation_generations',
  'pauses',
  'turns',
  'instances',
  'idempotency_keys',
  'kept_calls',
]
/** Far more rows than any batch below touches, and far fewer than a table holds. */
const ROWS_READ_MAX = 20_000

const OPERATOR: Principal = {
  userId: '00000000-0000-0000-0000-000000000000',
  role: 'admin',
  via: { kind: 'token', tokenId: '', expiresAt: new Date(0) },
}
const NOTHING_KEPT = { find: () => Promise.reject(new Error('no key was named')), stopSoon: () => undefined }

const keyHash = (n: number) => createHash('sha256').update(`key-${n}`).digest('hex')

/** Each has as many end users today as no statement may read. */
const KEYS_OF_END_USERS = 4

/** `$1` and `$2` are the first and the last row to insert into turns and calls; the other tables get fewer rows. */
const FILL = `
WITH turns_made AS (
  INSERT INTO turns (id, conversation, question, answer, is_escaped, characters, created_at)
  SELECT md5('row' || n)::uuid, 'kept-' || n / 20, repeat('q', 300), repeat('a', 300), false, 600, now() - ($2 - n) * interval '1 millisecond'
  FROM generate_series($1::int, $2::int) n
), calls_made AS (
  INSERT INTO calls (id, request_id, key_id, owner_id, end_user, kind, face, agent, instance, outcome, admitted_at)
  SELECT md5('row' || n)::uuid, '', md5('key' || n % 1000)::uuid, md5('user' || n % 1000)::uuid, 'end-user-' || n % 1000, 'chat',
    'rest', 'dify', md5('instance')::uuid, 'done', now()
  FROM generate_series($1::int, $2::int) n
), claims_made AS (
  INSERT INTO idempotency_keys (key_id, hash, fingerprint, call_id)
  SELECT md5('key' || n % 1000)::uuid, sha256(('claim-' || n)::bytea), sha256('asked'), md5('row' || n)::uuid
  FROM generate_series($1::int, $2::int) n
), kept_made AS (
  INSERT INTO kept_calls (call_id, key_id, owner_id, key_hash, face, conversation, stream, instance, ended_at)
  SELECT md5('row' || n)::uuid, md5('key' || n % 1000)::uuid, md5('user' || n % 1000)::uuid, sha256(('claim-' || n)::bytea),
    'rest', '', true, md5('instance')::uuid, now()
  FROM generate_series($1::int, $2::int) n
), quiet AS MATERIALIZED (
  -- As an import: so the users and keys leave no events.
  SELECT set_config('trunkline.doing', '{"actor":"import"}', true)
), numbers AS MATERIALIZED (
  SELECT n, md5('user' || n)::uuid AS user_id FROM generate_series($1 / 4, $2 / 4) n
), users_made AS (
  INSERT INTO users (id, username, username_key, password_hash, role, max_api_calls, created_at, updated_at)
  SELECT user_id, 'user-' || n, 'user-' || n, '', 'user', 1000000, now(), now() FROM numbers
), keys_made AS (
  INSERT INTO api_keys (id, hash, prefix, name, name_key, description, permissions, owner_id, created_by_id, created_at, expires_at)
  SELECT md5('key' || n)::uuid, sha256(('key-' || n)::bytea), 'tl_', '', '', '', '{chat}', user_id, user_id, now(),
    now() + interval '1 year'
  FROM numbers
), removed_keys_made AS (
  INSERT INTO removed_api_keys (id, owner_id) SELECT md5('removed' || n)::uuid, user_id FROM numbers
), rollups_made AS (
  INSERT INTO rollups (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome,
    calls, token_calls, prompt_tokens, completion_tokens, total_tokens, first_chunk, duration)
  SELECT 'hour', 'end_user', user_id::text, date_trunc('hour', now(), 'UTC'), 'end-user-' || n, 'chat',
    'dify', '', '', 'done', 1, 0, 0, 0, 0, '{}', '{}'
  FROM numbers
), today_made AS (
  INSERT INTO rollups (span, grain, subject, bucket, kind, agent, app, model, outcome,
    calls, token_calls, prompt_tokens, completion_tokens, total_tokens, first_chunk, duration)
  SELECT 'day', grain::rollup_grain, md5(subject || n)::uuid::text, date_trunc('day', now(), 'UTC'), 'chat',
    'dify', '', '', 'done', 1, 0, 0, 0, 0, '{}', '{}'
  FROM numbers CROSS JOIN (VALUES ('owner', 'user'), ('key', 'key')) AS grains(grain, subject)
), today_of_end_users_made AS (
  INSERT INTO rollups (span, grain, subject, bucket, end_user, kind, agent, app, model, outcome,
    calls, token_calls, prompt_tokens, completion_tokens, total_tokens, first_chunk, duration)
  SELECT 'day', 'end_user', md5('key' || n % ${KEYS_OF_END_USERS})::uuid::text, date_trunc('day', now(), 'UTC'), 'end-user-' || n,
    'chat', 'dify', '', '', 'done', 1, 0, 0, 0, 0, '{}', '{}'
  FROM numbers
), names_made AS (
  INSERT INTO rollup_names (kind, subject, day, name)
  SELECT 'end_user', md5('user' || n % 20)::uuid::text, date_trunc('day', now(), 'UTC'), 'end-user-' || n FROM numbers
), counts_made AS (
  INSERT INTO rollup_name_counts (kind, subject, day, names)
  SELECT 'end_user', user_id::text, date_trunc('day', now(), 'UTC'), 1 FROM numbers
), revocations_made AS (
  INSERT INTO revoked_tokens (id, expires_at) SELECT md5('revoked' || n)::uuid, now() + interval '1 hour' FROM numbers
), pauses_made AS (
  INSERT INTO pauses (id, owner_id, end_user, agent, app, conversation, deployment, state, sealed, content, created_at,
    claimed_by, claimed_at)
  SELECT md5('pause' || n)::uuid, user_id, '', 'dify', '', 'chat-' || n, 'main', 'main', false, '{}', now(),
    CASE WHEN n % 2 = 0 THEN md5('row' || n)::uuid END, CASE WHEN n % 2 = 0 THEN now() END
  FROM numbers
), conversations_made AS (
  INSERT INTO conversations (key, owner_id, agent, platform_id, created_at)
  SELECT 'mapping-' || n, user_id, 'dify', 'platform-' || n, now() FROM numbers
), listed_made AS (
  INSERT INTO listed_conversations (id, identity, owner_id, end_user, agent, app, conversation, created_at, last_activity_at)
  SELECT md5('listed' || n)::uuid, sha256(('listed' || n)::bytea), user_id, '', 'dify', '', 'chat-' || n, now(), now() FROM numbers
), generations_made AS (
  INSERT INTO conversation_generations (identity, generation, deleted_at) SELECT sha256(('listed' || n)::bytea), 1, now() FROM numbers
)
INSERT INTO instances (id, started_at, lease_until, stopped_at)
SELECT user_id, now(), now() - interval '1 day', now() - interval '1 day' FROM numbers CROSS JOIN quiet`

interface Case {
  readonly kind: 'embedded' | 'server'
  /** Statistics of almost empty tables mislead the planner: every table looks small and uniform. */
  readonly statistics: 'none' | 'of almost empty tables'
}

const CASES: Case[] =
  serverUrl === undefined
    ? [{ kind: 'embedded', statistics: 'none' }]
    : [
        { kind: 'server', statistics: 'none' },
        { kind: 'server', statistics: 'of almost empty tables' },
      ]

describe.each(CASES)('$kind, statistics: $statistics', ({ kind, statistics }) => {
  let scratch: ScratchDatabase | undefined
  let database: Database
  let sql: ExplainedSql

  beforeAll(async () => {
    if (kind === 'server') scratch = await createScratchDatabase(serverUrl ?? '', { template: undefined })
    database =
      scratch === undefined
        ? await openEmptyDatabase()
        : await openDatabase({ kind: 'server', url: scratch.url, poolMax: 1, statementTimeoutMs: 120_000 })
    await database.migrate()
    await fill(database.sql, statistics)
    sql = explainEach(database.sql, ROWS_READ_MAX)
  }, 240_000)
  afterAll(async () => {
    await database.close()
    await scratch?.drop()
  })

  test('no statement of a call or of a sweep scans a whole table or triggers JIT compilation', {
    timeout: 240_000,
  }, async () => {
    await callOnce(sql)
    await callMany(sql)
    await callKept(sql)
    await converse(sql)
    await followUsage(sql)
    await database.sql.query(RUN_CALLS, [WATCHING, 1.5 * ROWS_READ_MAX])
    await watchKeys(sql, 500)
    await watchKeys(sql, 0)
    const { upkeep } = createUsage({
      database: { ...database, sql },
      runtime: systemRuntime,
      limits: ampleLimits(),
      config: { retentionDays: 400 },
      catalog: { knownIds: () => new Set() },
    })
    expect(await upkeep.prune()).toBe(0)
    expect(await upkeep.pruneNames()).toBe(0)
    expect([...sql.problems]).toEqual([])
    expect(sql.plans).toBeGreaterThan(20)
  })

  // Beside `id::text AS id`, `ORDER BY id` names the text, for which no index serves, and the whole table would be sorted.
  test('pages of lists and the boundaries of their slices are found in the order of the primary key', {
    timeout: 240_000,
  }, async () => {
    const explained = explainEach(database.sql, SLICE_ROWS_READ_MAX, longScansOf)
    const ownerId = uuidOf('user7')
    for (const columns of [{}, { owner_id: ownerId }, { owner_id: ownerId, end_user: 'end-user-7' }]) {
      await inTwoSlices(async (slices) => {
        const ranges = inRangesOfIds({ sql: explained, slices, table: 'calls', columns }, undefined, noRows)
        for await (const _ of ranges);
      })
    }
    for (const table of ['api_keys', 'users'] as const) {
      for (const order of ['asc', 'desc'] as const) {
        const page = (slices: Slices | undefined) => {
          const fields = { id: { direction: order } }
          const found = slices === undefined ? Prisma.sql`true` : Prisma.sql`id IS NULL`
          return readOrdered(
            { prisma: onlyQueries(explained), reads: readsIn(slices), table, fields },
            { take: 10 },
            { where: found, isFiltered: true, isOfAll: true, owner: '' },
            noRows,
          )
        }
        await page(undefined)
        await inTwoSlices(page)
      }
    }
    const at = new Date()
    const range = { from: at, to: at, starts: [at], segments: [] }
    const query = { from: at, to: at, timezone: 'UTC', granularity: 'day', groupBy: [] } as const
    for (const grain of ['key', 'owner'] as const)
      await inTwoSlices((slices) => readRows({ sql: explained, slices }, { grain }, range, query))
    expect([...explained.problems]).toEqual([])
    expect(explained.plans).toBeGreaterThan(50)
  })
})

// The plan of a statement is kept with its connection: on an embedded database for as long as the process runs.
test.each(serverUrl === undefined ? ['embedded'] : ['server'])(
  '%s: no statement of a call scans a whole table because it was planned while its tables were almost empty',
  async (kind) => {
    const scratch =
      kind === 'server' ? await createScratchDatabase(serverUrl ?? '', { template: undefined }) : undefined
    const database =
      scratch === undefined
        ? await openEmptyDatabase()
        : await openDatabase({ kind: 'server', url: scratch.url, statementTimeoutMs: 120_000 })
    try {
      await database.migrate()
      await database.sql.query(FILL, [0, 39])
      const sql = explainEach(database.lanes.settlements, ROWS_READ_MAX)
      await callOnce(sql, 7)
      await callMany(sql, (n) => n % 10)
      await callKept(sql, { known: 8, count: 5 })
      await converse(sql)
      expect([...sql.problems]).toEqual([])
      expect(sql.plans).toBeGreaterThan(10)
    } finally {
      await database.close()
      await scratch?.drop()
    }
  },
  120_000,
)

const SLICE_ROWS = 50
/** More than an owner has in `calls`, and far fewer than each of the tables holds. */
const SLICE_ROWS_READ_MAX = 1_000
const noRows = async () => []

/** Runs a read up to its second boundary and the rows behind it. */
async function inTwoSlices(read: (slices: Slices) => Promise<unknown>): Promise<void> {
  const enough = new Error('enough slices')
  let statements = 0
  const slices: Slices = {
    async run(statement) {
      statements += 1
      if (statements > 4) throw enough
      return statement(SLICE_ROWS)
    },
  }
  await expect(read(slices)).rejects.toBe(enough)
}

function readsIn(slices: Slices | undefined): Reads {
  return { inTurn: (_, read) => read(slices), requirePlace: () => undefined }
}

/** As much of a Prisma client as statements in SQL need. */
function onlyQueries(sql: Sql): PrismaClient {
  const $queryRaw = (strings: readonly string[], ...parts: unknown[]) => {
    const { text, values } = Prisma.sql(strings, ...parts)
    return sql.query(text, values)
  }
  return { $queryRaw } as unknown as PrismaClient
}

function uuidOf(name: string): string {
  return createHash('md5')
    .update(name)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The tick of the subscribers to live usage: 400 users and 400 keys, of which every other user is unknown. */
async function followUsage(sql: Sql): Promise<void> {
  const uuid = (name: string) => createHash('md5').update(name).digest('hex')
  const expiresAt = new Date(Date.now() + 3_600_000)
  const callers = Array.from({ length: 400 }, (_, n): Principal[] => {
    const user = { userId: uuid(`user${n}`), role: 'user' } as const
    const named = { kind: 'key', keyId: uuid(`key${n}`), prefix: `tl_${n}` } as const
    const key = { ...named, permissions: ['chat'], allowedAgents: [] } as const
    return [
      {
        ...user,
        userId: n % 2 === 0 ? user.userId : uuid(`nobody${n}`),
        via: { kind: 'token', tokenId: uuid(`token${n}`), expiresAt, epoch: 0 },
      },
      { ...user, via: key },
    ]
  }).flat()
  const usage = await readTodayUsage(sql, callers)
  expect(usage.filter((each) => each === 'token_invalid')).toHaveLength(200)
  expect(usage.filter((each) => typeof each === 'object' && each.totals.calls > 0)).toHaveLength(600)
  const bound = callers.filter(({ via }) => via.kind === 'key').slice(0, KEYS_OF_END_USERS)
  const ofEndUsers = bound.flatMap((caller, key) =>
    [0, 1, 2].map((round) => ({ ...caller, endUser: `end-user-${key + KEYS_OF_END_USERS * round}` })),
  )
  const each = await readTodayUsage(sql, ofEndUsers)
  expect(each.filter((usage) => typeof usage === 'object' && usage.totals.calls > 0)).toHaveLength(12)
}

/** The process whose calls are watched, and more running calls of it than a look may read. */
const WATCHING = uuidOf('watching')
const RUN_CALLS = `
INSERT INTO calls (id, request_id, key_id, owner_id, kind, face, agent, instance, admitted_at)
SELECT md5('running' || n)::uuid, '', md5('key' || n)::uuid, md5('user' || n)::uuid, 'chat', 'rest', 'dify', $1::uuid, now()
FROM generate_series(0, $2::int) n`

/**
 * Two looks at the keys of 500 running calls, of which one is revoked, one expires and the owner of one is suspended; one of the
 * calls is stopped.
 */
async function watchKeys(sql: Sql, askedMax: number): Promise<void> {
  const from = 1_000 + askedMax
  const refusals = new Set<string>()
  const allRefused = Promise.withResolvers<void>()
  // Callers name calls by ids such as the gateway makes.
  const stoppedId = systemRuntime.newId()
  await sql.query('UPDATE calls SET id = $1::uuid WHERE id = $2::uuid', [
    stoppedId,
    uuidOf(`running${from + 4}`),
  ])
  const callOf = (n: number) => (n === 4 ? stoppedId : uuidOf(`running${from + n}`))
  const watch = createKeyWatch({
    sql,
    runtime: systemRuntime,
    instanceId: WATCHING,
    everyMs: 1,
    askedMax,
    onAnswer: (_, error) => allRefused.reject(error),
  })
  const ends = Array.from({ length: 500 }, (_, n) => {
    const key = { keyId: uuidOf(`key${from + n}`), ownerId: uuidOf(`user${from + n}`) }
    return watch.watch({ ...key, callId: callOf(n), address: '192.0.2.1' }, (reason) => {
      refusals.add(`${n} ${reason}`)
      if (refusals.size === 4) allRefused.resolve()
    })
  })
  const change = (text: string, n: number) =>
    sql.query(text, [uuidOf(`${text.includes('users') ? 'user' : 'key'}${from + n}`)])
  await change('UPDATE api_keys SET revoked_at = now() WHERE id = $1::uuid', 1)
  await change("UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1::uuid", 2)
  await change("UPDATE users SET status = 'suspended', updated_at = now() WHERE id = $1::uuid", 3)
  const stops = createCallStops({ sql, kept: NOTHING_KEPT, space: { isLow: false } })
  const stopped = await stops.stop(OPERATOR, { kind: 'call', callId: callOf(4) })
  expect(stopped).toEqual({ callId: callOf(4), outcome: null })
  await allRefused.promise
  for (const end of ends) end()
  expect([...refusals].sort()).toEqual(['1 key_revoked', '2 key_expired', '3 owner_suspended', '4 stopped'])
}

async function fill(sql: Sql, statistics: Case['statistics']): Promise<void> {
  for (const table of TABLES) await sql.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`)
  await sql.query(FILL, [0, 39])
  if (statistics !== 'none') await sql.query('ANALYZE')
  await sql.query(FILL, [40, ROWS - 1])
  // -1 means that the planner has no statistics for the table.
  const [known] = await sql.query<{ least: number; most: number }>(
    'SELECT min(reltuples) AS least, max(reltuples) AS most FROM pg_class WHERE relname = ANY ($1)',
    [TABLES],
  )
  expect(known).toEqual(statistics === 'none' ? { least: -1, most: -1 } : { least: 10, most: 40 })
}

function processOf(sql: Sql, instanceId = systemRuntime.newId()) {
  return createLedger({
    sql,
    runtime: systemRuntime,
    instanceId,
    observer: {
      batch: () => undefined,
      settleFailed(error) {
        throw error
      },
    },
  })
}

function admission(n: number): Admission {
  return {
    callId: systemRuntime.newId(),
    requestId: '',
    keyId: uuidOf(`key${n}`),
    keyHash: keyHash(n),
    address: '192.0.2.1',
    kind: 'chat',
    face: 'rest',
    agent: 'fastgpt',
    app: `app-${n}`,
    endUser: `end-user-${n}`,
    conversation: '',
  }
}

async function callOnce(sql: Sql, key = 77): Promise<void> {
  const instances = createInstances({
    sql,
    runtime: systemRuntime,
    identity: { id: systemRuntime.newId(), host: 'a-host', pid: 7, version: '1.0.0' },
    load: { load: () => [] },
    build: '20261201000000_own',
    leaseMs: 15_000,
    retentionDays: 30,
    reap: async () => 0,
    observer: {
      reaped: () => undefined,
      reapable: () => undefined,
      renewable: () => undefined,
      needsBuild: () => undefined,
    },
  })
  await instances.join()
  const ledger = processOf(sql)
  expect(await createRememberedKeys({ sql, runtime: systemRuntime }).read(keyHash(key), '')).toBeDefined()
  const one = admission(key)
  await ledger.admit(one)
  ledger.settle({ callId: one.callId, outcome: 'done', durationMs: 1 })
  await ledger.close(60_000)
  await ledger.settleDead(15_000)
  await ledger.settlePredecessors()
  expect(await instances.sweep()).toBe(0)
  expect(await instances.loads()).toHaveLength(1)
  await instances.leave()
}

/** Runs batches of the sizes that occur in a busy process. */
async function callMany(sql: Sql, keyOf = (n: number) => n * 120): Promise<void> {
  const ledger = processOf(sql)
  const readLimits = createRememberedKeys({ sql, runtime: systemRuntime }).read
  const many = Array.from({ length: 256 }, (_, n) => admission(keyOf(n)))
  await Promise.all(many.map(({ keyHash: hash }) => readLimits(hash, '')))
  await Promise.all(many.map((each) => ledger.admit(each)))
  for (const { callId } of many)
    ledger.settle({ callId, outcome: 'done', durationMs: 1, totalTokens: 5, isListed: true })
  await ledger.close(60_000)
}

/** Kept calls of which every other one repeats an earlier one, alone and together with ordinary ones, and some that come too late. */
async function callKept(sql: Sql, { known: knownRow, count } = { known: 778, count: 200 }): Promise<void> {
  const instanceId = systemRuntime.newId()
  const ledger = processOf(sql, instanceId)
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const kept = (n: number) => ({
    ...admission(n),
    kept: { keyHash: sha256(`claim-${n % 2 === 0 ? n : -n}`), fingerprint: sha256('asked'), stream: true },
  })
  const idOf = (row: number) => uuidOf(`row${row}`)
  const lookUp = createClaimLookUp({ sql })
  expect(await lookUp(kept(knownRow))).toMatchObject({ attachedTo: idOf(knownRow) })
  expect(await ledger.admit(kept(knownRow - 1))).not.toHaveProperty('attachedTo')
  const calls = Array.from({ length: count }, (_, n) => (n % 5 === 0 ? admission(n) : kept(n)))
  const known = await Promise.all(
    calls.map(({ kept: claim, ...each }) => claim && lookUp({ ...each, kept: claim })),
  )
  const admitted = await Promise.all(calls.map((each) => ledger.admit(each)))
  expect(known.filter((each) => each !== undefined)).toHaveLength(0.4 * count)
  expect(admitted.map(({ attachedTo }) => attachedTo)).toEqual(known.map((each) => each?.attachedTo))
  const late = calls.slice(0, count / 2).map(({ callId }) => callId)
  await sql.query(FREE_LATE, [JSON.stringify(late.slice(0, 1)), instanceId])
  await sql.query(FREE_LATE, [JSON.stringify(late), instanceId])
}

async function converse(sql: Sql): Promise<void> {
  const conversations = createConversations({
    sql,
    derivedIds: createDerivedIds({ value: 'secret' }),
    runtime: systemRuntime,
    bounds: {
      maxTurns: 20,
      maxCharacters: 40_000,
      retentionDays: 30,
      mappingRetentionDays: 400,
      ledgerRetentionDays: 500,
    },
  })
  const enter = (key: string) =>
    conversations.enter(
      {
        key,
        ownerId: systemRuntime.newId(),
        agent: 'dify',
        callId: systemRuntime.newId(),
        waitMs: 0,
        residence: { deployment: 'main', state: 'main' },
      },
      { isOver: false },
    )
  expect((await enter('mapping-5')).platformId).toBe('platform-5')
  await (await enter('fresh')).bind('platform-fresh')
  await (await enter('fresh')).lose()
  await (await enter('abandoned')).release()
  expect(await conversations.sweep()).toBe(0)
  expect(await conversations.turns('kept-1')).toHaveLength(40)
  const kept = Array.from({ length: 64 }, (_, n) =>
    conversations.remember(`kept-${1 + n * 100}`, systemRuntime.newId(), 'question', 'answer'),
  )
  await Promise.all(kept)
  expect(await conversations.turns('kept-1')).toHaveLength(40)
}
