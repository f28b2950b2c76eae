import { createHash } from 'node:crypto'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStoredSecrets } from '#core/accounts/auth/stored-secrets.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { createPauses, type Pauses } from '#core/calls/pauses/pauses.ts'
import type { Database } from '#core/database/database.ts'
import { addPause, type PauseRow } from '#core/database/table-rows.test-support.ts'
import type { Admission } from './admission-row.ts'
import { FREE_LATE } from './claiming-admission-sql.ts'
import { admissionOf, type KeyRow, type LedgerFixture, openLedgerFixture } from './ledger.test-support.ts'
import type { Ledger } from './ledger.ts'

const serverUrl = process.env.E2E_DATABASE_URL

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let fixture: LedgerFixture
  let database: Database
  let ledgers: readonly Ledger[]
  let pauses: Pauses
  let keyOf: LedgerFixture['keyOf']
  let userOf: LedgerFixture['userOf']
  let usageOf: LedgerFixture['usageOf']
  const closing: (() => Promise<void>)[] = []

  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
    ;({ database, keyOf, userOf, usageOf } = fixture)
    const other = serverUrl === undefined ? database : await fixture.openAnother()
    if (other !== database) closing.push(() => other.close())
    pauses = createPauses({
      sql: database.sql,
      secrets: createStoredSecrets({ secretKey: undefined, secretKeyPrevious: undefined }, systemRuntime),
      retentionDays: 1,
    })
    ledgers = [fixture.ledgerOf(), fixture.ledgerOf({ sql: other.sql })]
  })
  afterAll(async () => {
    for (const close of closing) await close()
    await fixture.close()
  })

  const CONVERSATION = 'chat-1'

  /** A run of this owner that waits. */
  async function pauseOf(
    { ownerId }: Pick<KeyRow, 'ownerId'>,
    more: Pick<PauseRow, 'expiresAt'> = {},
  ): Promise<string> {
    const id = v7()
    await addPause(database.sql, { id, ownerId, conversation: CONVERSATION, ...more })
    return id
  }

  const callOf = (key: KeyRow, more: Partial<Admission> = {}) =>
    admissionOf(key, { conversation: CONVERSATION, ...more })

  /** What becomes of a call: the id of the pause that it meets, `admitted`, `attached`, or the reason of its refusal. */
  async function fate(call: Admission, ledger = ledgers[0]): Promise<unknown> {
    try {
      const answer = await ledger?.admit(call)
      if (answer?.openPauseId !== undefined) return answer.openPauseId
      return answer?.attachedTo === undefined ? 'admitted' : 'attached'
    } catch (error) {
      if (error instanceof Problem) return error.reason
      throw error
    }
  }

  /** Alone, and in a batch with another call, since those are different statements. */
  describe.each(['alone', 'with another'])('a call %s', (company) => {
    const fateIn = async (call: Admission) => {
      if (company === 'alone') return fate(call)
      const [found] = await Promise.all([fate(call), fate(admissionOf(await keyOf()))])
      return found
    }

    test('that meets an open pause is not counted, and learns its id alone', async () => {
      const key = await keyOf()
      const id = await pauseOf(key)
      for (const call of [callOf(key), callOf(key, { answers: id, conversation: 'another' })]) {
        expect(await fateIn(call)).toBe(id)
        expect(await pauses.find(id)).toEqual({
          ...{ id, conversation: CONVERSATION, deployment: 'main', state: 'main' },
          ...{ kept: { pauses: [] }, isExpired: false },
        })
      }
      expect(await usageOf(key)).toEqual({ user: 0, key: 0, day: 0, month: 0, rows: 0 })
    })

    test('learns by the clock of the database that a pause has expired', async () => {
      const key = await keyOf()
      const id = await pauseOf(key, { expiresAt: new Date(Date.now() - 1_000) })
      expect(await fateIn(callOf(key))).toBe(id)
      expect(await pauses.find(id)).toMatchObject({ isExpired: true })
    })

    test('of another owner, end user, agent, app or conversation meets none', async () => {
      const key = await keyOf()
      const id = await pauseOf(key)
      const others = [
        { endUser: 'ada' },
        { agent: 'fastgpt' },
        { app: 'a' },
        { conversation: 'chat-2' },
        { conversation: '' },
      ]
      for (const other of others) expect(await fateIn(callOf(key, other))).toBe('admitted')
      for (const other of others.slice(0, 3))
        expect(await fateIn(callOf(key, { ...other, answers: id }))).toBe('pause_over')
      const stranger = await keyOf()
      expect(await fateIn(callOf(stranger))).toBe('admitted')
      expect(await fateIn(callOf(stranger, { answers: id }))).toBe('pause_over')
    })

    test('that is refused for another reason learns nothing of a pause', async () => {
      const key = await keyOf(undefined, { permissions: ['upload'] })
      await pauseOf(key)
      expect(await fateIn(callOf(key))).toBe('permission_denied')
    })

    test('that claims a pause is counted and linked to it, and no other call meets that pause', async () => {
      const key = await keyOf()
      const id = await pauseOf(key)
      const call = callOf(key, { claims: id })
      expect(await fateIn(call)).toBe('admitted')
      expect(await database.prisma.call.findUniqueOrThrow({ where: { id: call.callId } })).toMatchObject({
        answers: id,
      })
      expect(await fateIn(callOf(key, { answers: id }))).toBe('pause_over')
      expect(await pauses.find(id)).toBeUndefined()
      expect(await fateIn(callOf(key))).toBe('admitted')
      expect((await usageOf(key)).rows).toBe(2)
    })
  })

  test('of many calls of two processes that claim a pause one gets it, a hundred times', async () => {
    for (let round = 0; round < 100; round += 1) {
      const key = await keyOf()
      const claims = await pauseOf(key)
      const all = await Promise.all(
        Array.from({ length: 6 }, (_, n) => fate(callOf(key, { claims }), ledgers[n % ledgers.length])),
      )
      expect(all.toSorted()).toEqual(['admitted', ...Array(5).fill('pause_over')])
      expect((await usageOf(key)).rows).toBe(1)
    }
  })

  const keptAs = (name: string) => {
    const hash = createHash('sha256').update(name).digest('hex')
    return { keyHash: hash, fingerprint: hash, stream: false }
  }

  test('the same kept answer is attached to the one that has claimed the pause, and another is too late', async () => {
    const key = await keyOf()
    const claims = await pauseOf(key)
    const same = () => callOf(key, { claims, kept: keptAs(claims) })
    expect((await Promise.all([fate(same()), fate(same()), fate(same())])).toSorted()).toEqual([
      ...['admitted', 'attached', 'attached'],
    ])
    expect(await fate(same(), ledgers[1])).toBe('attached')
    expect(await fate(callOf(key, { claims, kept: keptAs('another') }))).toBe('pause_over')
    // That one has left no claim behind.
    expect(await fate(callOf(key, { kept: keptAs('another') }))).toBe('admitted')
  })

  test('a call over its quota claims nothing', async () => {
    const key = await keyOf(await userOf({ maxApiCalls: 0 }))
    const id = await pauseOf(key)
    expect(await fate(callOf(key, { claims: id }))).toBe('quota_exceeded')
    expect(await fate(callOf(key))).toBe(id)
  })

  test('a pause is open again when its call was admitted too late for its caller', async () => {
    const key = await keyOf()
    const id = await pauseOf(key)
    const call = callOf(key, { claims: id })
    await fate(call)
    await database.sql.query(FREE_LATE, [JSON.stringify([call.callId]), v7()])
    expect(await fate(callOf(key))).toBe(id)
  })
})
