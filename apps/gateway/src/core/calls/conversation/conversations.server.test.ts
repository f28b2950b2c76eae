import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import { MAIN_RESIDENCE } from '#core/calls/routing/residence.ts'
import type { Database, Sql } from '#core/database/database.ts'
import { openDatabase } from '#core/database/open.ts'
import { createScratchDatabase, openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import { type Conversations, createConversations } from './conversations.ts'
import { createDerivedIds } from './derived-ids.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const BOUNDS = {
  maxTurns: 3,
  maxCharacters: 20,
  retentionDays: 30,
  mappingRetentionDays: 400,
  ledgerRetentionDays: 500,
}

const derivedIds = createDerivedIds({ value: 'secret' })
let database: Database
let conversations: Conversations

beforeAll(async () => {
  database = await openScratchDatabase()
  conversations = createConversations({
    sql: database.sql,
    derivedIds,
    runtime: systemRuntime,
    bounds: BOUNDS,
  })
})
afterAll(() => database.close())

const enter = (key: string, waitMs = 5_000) =>
  conversations.enter(
    {
      key,
      ownerId: systemRuntime.newId(),
      agent: 'dify',
      callId: systemRuntime.newId(),
      waitMs,
      residence: MAIN_RESIDENCE,
    },
    { isOver: false },
  )

test('calls that race for a new id get the same conversation', async () => {
  const first = await enter('race')
  expect(first.platformId).toBeUndefined()
  const others = [enter('race'), enter('race')]
  await first.bind('platform-1')
  expect((await Promise.all(others)).map(({ platformId }) => platformId)).toEqual([
    'platform-1',
    'platform-1',
  ])
})

test('if the first call fails, the next one takes over', async () => {
  const first = await enter('takeover')
  const second = enter('takeover')
  await first.release()
  const next = await second
  expect(next.platformId).toBeUndefined()
  await next.bind('platform-2')
  expect((await enter('takeover')).platformId).toBe('platform-2')
})

test('a conversation that is still being created is busy after the wait', async () => {
  await enter('busy')
  await expect(enter('busy', 0)).rejects.toMatchObject({ reason: 'conversation_busy' })
})

test('a lost conversation stays lost', async () => {
  const mapping = await enter('lost')
  await mapping.bind('platform-3')
  await (await enter('lost')).lose()
  await expect(enter('lost')).rejects.toMatchObject({ reason: 'conversation_not_found' })
})

test('a late update of a replaced holder changes nothing', async () => {
  const late = await enter('late')
  await late.release()
  const holder = await enter('late')
  await late.bind('wrong')
  await holder.bind('right')
  expect((await enter('late')).platformId).toBe('right')
})

/** Times of turns are kept to the millisecond, within which the embedded database writes more than one. */
async function nextMillisecond(): Promise<void> {
  const moved = "SELECT date_trunc('milliseconds', clock_timestamp()) > max(created_at) AS moved FROM turns"
  await vi.waitFor(async () => expect(await database.sql.query(moved)).toEqual([{ moved: true }]))
}

test('turns come back oldest first, within the bounds of number and characters', async () => {
  for (const [question, answer] of [
    ['q1', 'a1'],
    ['q2', 'a2'],
    ['q3', 'a3'],
    ['q4', 'a4'],
  ] as const) {
    await conversations.remember('turns', systemRuntime.newId(), question, answer)
    await nextMillisecond()
  }
  expect((await conversations.turns('turns')).map(({ content }) => content)).toEqual([
    'q2',
    'a2',
    'q3',
    'a3',
    'q4',
    'a4',
  ])
  await conversations.remember('turns', systemRuntime.newId(), 'long'.repeat(3), 'a5')
  expect((await conversations.turns('turns')).map(({ content }) => content)).toEqual([
    'q4',
    'a4',
    'longlonglong',
    'a5',
  ])
})

test.each([
  ['plain', 'é\u2028😀\\"\u0001', false],
  ['with a NUL', 'a\0b', true],
  ['with a lone surrogate', 'a\ud800b', true],
])('a text %s is read back unchanged, and is escaped only if necessary', async (key, text, isEscaped) => {
  await conversations.remember(key, systemRuntime.newId(), text, 'fine')
  expect((await conversations.turns(key)).map(({ content }) => content)).toEqual([text, 'fine'])
  const [row] = await storedTurns(key)
  expect(row).toMatchObject({ is_escaped: isEscaped, characters: text.length + 4 })
  if (!isEscaped) expect(row?.question).toBe(text)
})

test('a conversation never stores more than what could be sent again', async () => {
  for (let n = 0; n < 8; n += 1) await conversations.remember('bounded', systemRuntime.newId(), 'q', 'a')
  expect(await storedTurns('bounded')).toHaveLength(3)
  await nextMillisecond()
  await conversations.remember('bounded', systemRuntime.newId(), 'q'.repeat(10), 'a'.repeat(8))
  expect((await storedTurns('bounded')).map(({ characters }) => characters)).toEqual([2, 18])
})

test('turns that end together are bounded like those that end one after the other', async () => {
  const texts = Array.from({ length: 8 }, (_, n) => `q${n}`)
  const ids = texts.map((_, n) => `01890a5d-ac96-774b-bcce-00000000000${n}`)
  // The first is written alone; the others gather in the next batch.
  await Promise.all(texts.map((text, n) => conversations.remember('together', ids[n] ?? '', text, 'a')))
  expect(await storedTurns('together')).toHaveLength(3)
  expect((await conversations.turns('together')).map(({ content }) => content)).toEqual([
    'q5',
    'a',
    'q6',
    'a',
    'q7',
    'a',
  ])
})

test('turns are ordered by the clock of the database, not by the clock that made their ids', async () => {
  const [late, early] = ['ffffffff-ac96-774b-bcce-000000000000', '00000000-ac96-774b-bcce-000000000000']
  await conversations.remember('clocks', late, 'first', 'a')
  await nextMillisecond()
  await conversations.remember('clocks', early, 'second', 'a')
  expect((await conversations.turns('clocks')).map(({ content }) => content)).toEqual([
    'first',
    'a',
    'second',
    'a',
  ])
})

test('a turn that is too long to be sent again is not stored, and earlier turns are no longer sent', async () => {
  await conversations.remember('too-long', systemRuntime.newId(), 'before', 'a')
  await nextMillisecond()
  await conversations.remember('too-long', systemRuntime.newId(), 'q'.repeat(1_000_000), 'a')
  expect(await storedTurns('too-long')).toEqual([])
  await nextMillisecond()
  await conversations.remember('too-long', systemRuntime.newId(), 'after', 'a')
  expect((await conversations.turns('too-long')).map(({ content }) => content)).toEqual(['after', 'a'])
})

test('a turn that cannot be stored does not fail the others of its batch', async () => {
  const ids = [systemRuntime.newId(), 'no id', systemRuntime.newId(), systemRuntime.newId()]
  const results = await Promise.allSettled(
    ids.map((id, n) => conversations.remember(`batch-${n}`, id, 'q', 'a')),
  )
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(await conversations.turns('batch-3')).toHaveLength(2)
})

test.runIf(serverUrl)('a turn that times out does not fail the others', async () => {
  const scratch = await createScratchDatabase(serverUrl ?? '')
  const impatient = await openDatabase({ kind: 'server', url: scratch.url, statementTimeoutMs: 2_000 })
  onTestFinished(() => impatient.close().finally(scratch.drop))
  await impatient.migrate()
  await impatient.sql.query(`CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN IF NEW.question = 'slow' THEN PERFORM pg_sleep(60); END IF; RETURN NEW; END $$`)
  await impatient.sql.query(
    'CREATE TRIGGER dawdle BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION dawdle()',
  )
  const { remember } = createConversations({
    sql: impatient.sql,
    derivedIds,
    runtime: systemRuntime,
    bounds: BOUNDS,
  })
  const results = await Promise.allSettled(
    ['first', 'a', 'slow', 'b'].map((question) => remember(question, systemRuntime.newId(), question, '')),
  )
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
})

test('a batch of turns that takes too long is written in smaller ones', async () => {
  const tooSlow = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
  const sizes: number[] = []
  const sql: Sql = {
    async query<Row>(text: string, values: readonly unknown[] = []) {
      const { length } = JSON.parse(String(values[0])) as unknown[]
      sizes.push(length)
      if (length > 2) throw tooSlow
      return database.sql.query<Row>(text, values)
    },
  }
  const bounds = {
    maxTurns: 9,
    maxCharacters: 100,
    retentionDays: 30,
    mappingRetentionDays: 400,
    ledgerRetentionDays: 500,
  }
  const slow = createConversations({ sql, derivedIds, runtime: systemRuntime, bounds })
  const questions = ['q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7', 'q8']
  await Promise.all(questions.map((question) => slow.remember('slow', systemRuntime.newId(), question, 'a')))
  expect(sizes.slice(0, 3)).toEqual([8, 4, 2])
  const kept = createConversations({ sql: database.sql, derivedIds, runtime: systemRuntime, bounds })
  const userTurns = (await kept.turns('slow')).filter(({ role }) => role === 'user')
  expect(userTurns.map(({ content }) => content).sort()).toEqual(questions)
})

test('turns past their retention are deleted, a bounded number at a time', async () => {
  await database.sql.query(
    `INSERT INTO turns (id, conversation, question, answer, is_escaped, characters, created_at)
     SELECT gen_random_uuid(), 'aged', '', '', false, 0, now() - CASE WHEN n > 0 THEN interval '31 days' ELSE '29 days' END
     FROM generate_series(0, 1500) n`,
  )
  expect(await conversations.sweep()).toBe(1_000)
  expect(await conversations.sweep()).toBe(500)
  expect(await conversations.sweep()).toBe(0)
  expect(await storedTurns('aged')).toHaveLength(1)
})

test('a mapping is deleted when it has not been used for its retention', async () => {
  for (const key of ['used', 'unused', 'used again']) await (await enter(key)).bind(`platform of ${key}`)
  const age = (days: number, keys: string) =>
    database.sql.query(
      `UPDATE conversations SET used_at = now() - ${days} * interval '1 day' WHERE key = ANY ($1)`,
      [keys],
    )
  await age(399, '{used}')
  await age(401, '{unused,used again}')
  await enter('used again')
  expect(await conversations.sweep()).toBe(1)
  expect((await enter('used')).platformId).toBe('platform of used')
  expect((await enter('used again')).platformId).toBe('platform of used again')
  expect((await enter('unused')).platformId).toBeUndefined()
})

test('a generation is deleted once neither the ledger nor the list can know a call of its conversation', async () => {
  const ownerId = systemRuntime.newId()
  /** A conversation that was deleted so many days ago, or is being deleted. */
  const deleted = async (
    name: string,
    { days, generation = 1, until }: { days: number | null; generation?: number; until?: string },
  ) => {
    await database.sql.query(
      `INSERT INTO conversation_generations (identity, generation, deleted_at, deleting_until)
       VALUES ($1::text::bytea, $2, now() - $3 * interval '1 day', now() + $4::interval)`,
      [name, generation, days, until ?? null],
    )
  }
  const listed = (name: string) =>
    database.sql.query(
      `INSERT INTO listed_conversations (id, identity, owner_id, end_user, agent, app, conversation, created_at, last_activity_at)
       VALUES ($1::uuid, $2::text::bytea, $3::uuid, '', 'fastgpt', '', $2, now(), now() - interval '399 days')`,
      [systemRuntime.newId(), name, ownerId],
    )
  await deleted('older than the list and the ledger', { days: 501 })
  await deleted('in the ledger still', { days: 499 })
  await deleted('used again', { days: 900, generation: 2 })
  await listed('used again')
  await deleted('deleted again just now', { days: 900, until: '1 minute' })
  await deleted('deleted for the first time just now', { days: null, generation: 0, until: '1 minute' })
  await deleted('never finished', { days: null, generation: 0, until: '-2 days' })
  await deleted('given up', { days: null, generation: 0 })
  expect(await conversations.sweep()).toBe(3)
  const left = await database.sql.query<{ name: string }>(
    "SELECT convert_from(identity, 'UTF8') AS name FROM conversation_generations",
  )
  expect(left.map(({ name }) => name).toSorted()).toEqual([
    'deleted again just now',
    'deleted for the first time just now',
    'in the ledger still',
    'used again',
  ])
})

test('further uses of a conversation within a day do not change the indexed time of its last use', async () => {
  await (await enter('daily')).bind('platform-4')
  const usedAt = async () =>
    (await database.sql.query<{ used_at: Date }>("SELECT used_at FROM conversations WHERE key = 'daily'"))[0]
      ?.used_at
  const first = await usedAt()
  await enter('daily')
  expect(await usedAt()).toEqual(first)
})

interface StoredTurn {
  readonly question: string
  readonly is_escaped: boolean
  readonly characters: number
}

function storedTurns(conversation: string): Promise<StoredTurn[]> {
  return database.sql.query<StoredTurn>(
    'SELECT question, is_escaped, characters FROM turns WHERE conversation = $1 ORDER BY created_at, id',
    [conversation],
  )
}

test('where there is no row, the ledger tells where a conversation lives', async () => {
  const ownerId = systemRuntime.newId()
  const called = (
    conversation: string,
    outcome: string | null,
    deployment: string | null,
    attempts: number | null,
  ) =>
    database.sql.query(
      `INSERT INTO calls (id, request_id, key_id, owner_id, kind, face, agent, app, end_user, conversation, instance, outcome,
         deployment, attempts, admitted_at)
       VALUES ($1::uuid, 'r', $1::uuid, $2::uuid, 'chat', 'rest', 'fastgpt', '', '', $3, $1::uuid, $4, $5, $6, now())`,
      [systemRuntime.newId(), ownerId, conversation, outcome, deployment, attempts],
    )
  const residenceOf = async (conversation: string) => {
    const name = { ownerId, agent: 'fastgpt', app: '', endUser: '', conversation }
    return (await conversations.stored(name, true)).residence
  }
  await called('before', 'done', null, null)
  expect(await residenceOf('before')).toEqual(MAIN_RESIDENCE)
  await called('swept', 'done', 'us', 1)
  await called('swept', 'interrupted', null, null)
  expect(await residenceOf('swept')).toEqual({ deployment: 'us', state: 'us' })
  // Nothing was sent for these, so that they may begin anywhere.
  await called('left', 'client_gone', null, 0)
  await called('refused', 'upstream_error', 'us', 2)
  await called('running', null, null, null)
  for (const conversation of ['left', 'refused', 'running', 'unknown'])
    expect(await residenceOf(conversation), conversation).toBeUndefined()
})
