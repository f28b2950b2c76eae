import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#core/database/database.ts'
import { rowsOf } from '#core/database/table-rows.test-support.ts'
import type { Admission } from './admission-row.ts'
import { admissionOf, type KeyRow, type LedgerFixture, openLedgerFixture } from './ledger.test-support.ts'
import type { Ledger } from './ledger.ts'
import type { Settlement } from './settlement/settlement-row.ts'

const serverUrl = process.env.E2E_DATABASE_URL

interface ListedRow {
  readonly id: string
  readonly name: string | null
  readonly createdAt: Date
  readonly lastActivityAt: Date
}

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let fixture: LedgerFixture
  let database: Database
  let ledger: Ledger

  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
    ;({ database } = fixture)
    ledger = fixture.ledgerOf()
  })
  afterAll(() => fixture.close())

  const DONE = { outcome: 'done', durationMs: 1, isListed: true } as const

  async function call(
    key: KeyRow,
    more: Partial<Admission>,
    settled: Omit<Settlement, 'callId'> = DONE,
    by = ledger,
  ): Promise<void> {
    const admission = admissionOf(key, more)
    const { callId } = admission
    await by.admit(admission)
    const { written } = by.awaitSettlement(callId)
    by.settle({ ...settled, callId })
    await written
  }

  const listedOf = ({ ownerId }: KeyRow) =>
    rowsOf<ListedRow>(database.sql, 'listed_conversations', { owner_id: ownerId }, 'conversation')

  test('a conversation is listed once, under an id of its own, however many calls it has', async () => {
    const key = await fixture.keyOf()
    for (let n = 0; n < 3; n += 1) await call(key, { conversation: 'chat-1', endUser: 'ann' })
    await Promise.all([
      call(key, { conversation: 'chat-1', endUser: 'ann' }),
      call(key, { conversation: 'chat-2' }),
    ])
    const listed = await listedOf(key)
    expect(listed).toMatchObject([
      { conversation: 'chat-1', endUser: 'ann', name: null },
      { conversation: 'chat-2', endUser: '' },
    ])
    const calls = await database.prisma.call.findMany({ where: { keyId: key.id }, orderBy: { id: 'asc' } })
    expect(listed[0]?.createdAt).toEqual(calls[0]?.admittedAt)
    for (const { id } of listed) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
      expect(calls.map((row) => row.id)).not.toContain(id)
    }
  })

  test('a conversation is named by its first call, if that has a name for it, and by no later one', async () => {
    const key = await fixture.keyOf()
    const named = (conversationName: string) => ({ ...DONE, conversationName })
    await call(key, { conversation: 'chat-1' }, named('Where is my order?'))
    await call(key, { conversation: 'chat-1' }, named('And now?'))
    await call(key, { conversation: 'chat-2' })
    await call(key, { conversation: 'chat-2' }, named('Too late'))
    expect((await listedOf(key)).map(({ name }) => name)).toEqual(['Where is my order?', null])
  })

  test('the same id of another owner, end user, agent or app is another conversation', async () => {
    const [key, other] = [await fixture.keyOf(), await fixture.keyOf()]
    const texts = [{}, { endUser: 'ann' }, { agent: 'coze' }, { app: 'app' }, { endUser: 'ann","', app: '"' }]
    for (const more of texts) await call(key, { conversation: 'same', ...more })
    await call(other, { conversation: 'same' })
    expect([(await listedOf(key)).length, (await listedOf(other)).length]).toEqual([texts.length, 1])
  })

  test('a row is left alone within a minute of its last update, and is updated after it', async () => {
    const key = await fixture.keyOf()
    await call(key, { conversation: 'chat' })
    const [first] = await listedOf(key)
    await call(key, { conversation: 'chat' })
    expect(await listedOf(key)).toEqual([first])
    await database.sql.query(
      "UPDATE listed_conversations SET last_activity_at = last_activity_at - interval '61 seconds' WHERE owner_id = $1::uuid",
      [key.ownerId],
    )
    await call(key, { conversation: 'chat' })
    const [again] = await listedOf(key)
    expect(again?.id).toBe(first?.id)
    expect(Number(again?.lastActivityAt)).toBeGreaterThanOrEqual(Number(first?.lastActivityAt))
  })

  test('calls that were refused by their agent, that belong to none, or that are uploads, list nothing', async () => {
    const key = await fixture.keyOf(undefined, { permissions: ['chat', 'upload'] })
    await call(
      key,
      { conversation: 'refused' },
      { ...DONE, outcome: 'rejected', reason: 'agent_rejected_input' },
    )
    await call(key, { conversation: 'none' }, { outcome: 'done', durationMs: 1 })
    await call(key, { kind: 'upload', conversation: '' }, { outcome: 'done', durationMs: 1 })
    expect(await listedOf(key)).toEqual([])
  })

  test('the conversation of a call whose process died is listed by whoever settles it', async () => {
    const key = await fixture.keyOf()
    await ledger.admit(admissionOf(key, { conversation: 'died' }))
    // Its client need not have named one.
    await ledger.admit(admissionOf(key, { conversation: 'unnamed', face: 'openai' }))
    await fixture.ledgerOf().settlePredecessors()
    expect(await listedOf(key)).toMatchObject([{ conversation: 'died' }])
  })

  test('processes that settle calls of the same conversations at once neither deadlock nor list one twice', async () => {
    const key = await fixture.keyOf()
    const names = Array.from({ length: 20 }, (_, n) => `chat-${n}`)
    const ledgers = [ledger, fixture.ledgerOf()]
    await Promise.all(
      ledgers.flatMap((by, n) =>
        (n === 0 ? names : names.toReversed()).map((conversation) => call(key, { conversation }, DONE, by)),
      ),
    )
    expect((await listedOf(key)).length).toBe(names.length)
  })

  describe('a conversation that was deleted', () => {
    const mark = (key: KeyRow, set: string) =>
      database.sql.query(
        `INSERT INTO conversation_generations (identity, generation, deleting_until)
         SELECT identity, ${set} FROM listed_conversations WHERE owner_id = $1::uuid
         ON CONFLICT (identity) DO UPDATE SET generation = excluded.generation, deleting_until = excluded.deleting_until`,
        [key.ownerId],
      )

    test('has another generation, which the admission tells', async () => {
      const key = await fixture.keyOf()
      await call(key, { conversation: 'chat' })
      await mark(key, '2, NULL')
      const alone = await ledger.admit(admissionOf(key, { conversation: 'chat' }))
      const [together, other] = await Promise.all(
        ['chat', 'another'].map((conversation) => ledger.admit(admissionOf(key, { conversation }))),
      )
      expect([alone, together, other].map((admitted) => admitted?.generation)).toEqual([2, 2, undefined])
    })

    test('takes no call while it is deleted, and no longer than that was to take', async () => {
      const key = await fixture.keyOf()
      await call(key, { conversation: 'chat' })
      await mark(key, "0, now() + interval '1 minute'")
      const before = await fixture.usageOf(key)
      const admit = () => ledger.admit(admissionOf(key, { conversation: 'chat' }))
      await expect(admit()).rejects.toMatchObject({ reason: 'conversation_busy' })
      await expect(Promise.all([admit(), admit()])).rejects.toMatchObject({ reason: 'conversation_busy' })
      expect(await fixture.usageOf(key)).toEqual(before)
      await mark(key, '0, now()')
      await expect(admit()).resolves.toMatchObject({ ownerId: key.ownerId })
    })
  })
})
