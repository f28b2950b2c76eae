import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { DeadlineError } from '#core/base/async/deadline.ts'
import type { Database, Sql } from '#core/database/database.ts'
import type { Prisma } from '#generated/prisma/client.ts'
import { createClaimLookUp, type KeptCallToAdmit } from './kept-claims.ts'
import {
  admissionOf,
  inDays,
  type KeyRow,
  type LedgerFixture,
  openLedgerFixture,
  randomHash,
  refusal,
} from './ledger.test-support.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'

describe(kind, () => {
  let fixture: LedgerFixture
  let database: Database
  let key: KeyRow
  /** A call that has claimed its key. */
  let earlier: KeptCallToAdmit & { readonly callId: string }

  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
    database = fixture.database
  })
  afterAll(() => fixture.close())
  beforeEach(async () => {
    key = await fixture.keyOf()
    earlier = keptCall(key)
    await fixture.ledgerOf().admit({ ...admissionOf(key), ...earlier })
  })

  function keptCall(key: Pick<KeyRow, 'id' | 'hash'>) {
    const kept = { keyHash: randomHash(), fingerprint: randomHash(), stream: false }
    return { ...admissionOf(key), kept }
  }

  const lookUp = (call: KeptCallToAdmit) => createClaimLookUp(database)(call)
  const attached = () => ({ keyId: key.id, ownerId: key.ownerId, attachedTo: earlier.callId })
  const updateKey = (data: Prisma.ApiKeyUpdateInput) =>
    database.prisma.apiKey.update({ where: { id: key.id }, data })

  test('the look-up of a claim finds the earlier call, with its key and owner', async () => {
    expect(await lookUp(earlier)).toEqual(attached())
  })

  test('the look-up of a claim leaves to the admission what has none: a free key, that of another API key, and an unknown API key', async () => {
    const { kept } = earlier
    const sibling = await fixture.keyOf(key.ownerId)
    expect(await lookUp(keptCall(key))).toBeUndefined()
    expect(await lookUp({ ...keptCall(sibling), kept })).toBeUndefined()
    expect(await lookUp({ ...keptCall({ id: v7(), hash: randomHash() }), kept })).toBeUndefined()
    await updateKey({ revokedAt: new Date() })
    expect(await lookUp(keptCall(key))).toBeUndefined()
  })

  test('the look-up of a claim refuses a request that asks something else', async () => {
    const other = { ...earlier, kept: { ...earlier.kept, fingerprint: randomHash() } }
    await expect(lookUp(other)).rejects.toMatchObject({ reason: 'idempotency_mismatch', status: 422 })
  })

  test('the look-up of a claim refuses an API key that may not make the call any more, for the first of several reasons', async () => {
    const updateOwner = (data: Prisma.UserUpdateInput) =>
      database.prisma.user.update({ where: { id: key.ownerId }, data })
    await updateKey({
      revokedAt: new Date(),
      expiresAt: inDays(-1),
      permissions: ['upload'],
      allowedAgents: ['fastgpt'],
    })
    await updateOwner({ status: 'suspended' })
    const other = { ...earlier, kept: { ...earlier.kept, fingerprint: randomHash() } }
    const reasons: string[] = []
    const ask = async () => reasons.push(await refusal(lookUp(other)))

    await ask()
    await updateKey({ revokedAt: null })
    await ask()
    await updateKey({ expiresAt: inDays(1) })
    await ask()
    await updateOwner({ status: 'active' })
    await ask()
    await updateKey({ permissions: ['admin'] })
    await ask()
    await updateKey({ allowedAgents: ['fastgpt', 'dify'] })
    await ask()
    expect(reasons).toEqual([
      'key_revoked',
      'key_expired',
      'owner_suspended',
      'permission_denied',
      'agent_denied',
      'idempotency_mismatch',
    ])
    expect(await lookUp(earlier)).toEqual(attached())
  })

  test('the look-up of a claim takes both secrets of the key, until the one before has ended, and refuses what a pause and addresses refuse', async () => {
    const previous = { ...earlier, keyHash: randomHash(), address: '192.0.2.1' }
    await updateKey({ previousHash: Buffer.from(previous.keyHash, 'hex'), previousEndsAt: inDays(1) })
    expect(await lookUp(previous)).toEqual(attached())
    const changes: [Prisma.ApiKeyUpdateInput, string][] = [
      [{ allowedAddresses: ['198.51.100.0/24'] }, 'address_denied'],
      [{ pausedAt: new Date() }, 'key_paused'],
      [{ previousEndsAt: inDays(-1) }, 'key_rotated'],
    ]
    for (const [data, reason] of changes) {
      await updateKey(data)
      expect(await refusal(lookUp(previous))).toBe(reason)
    }
  })

  test('an app of an allowed agent may be named', async () => {
    await updateKey({ allowedAgents: ['dify/app-1'] })
    expect(await lookUp({ ...earlier, app: 'app-1' })).toEqual(attached())
    expect(await refusal(lookUp({ ...earlier, app: 'app-2' }))).toBe('agent_denied')
  })

  test('calls that arrive together share a statement, and a bad value fails only its own call', async () => {
    let statements = 0
    const sql: Sql = {
      query<Row>(text: string, values?: readonly unknown[]) {
        statements += 1
        return database.sql.query<Row>(text, values)
      },
    }
    const find = createClaimLookUp({ sql })
    const revoked = await fixture.keyOf()
    const ofRevoked = keptCall(revoked)
    await fixture.ledgerOf().admit(ofRevoked)
    await database.prisma.apiKey.update({ where: { id: revoked.id }, data: { revokedAt: new Date() } })
    const calls = [keptCall(key), earlier, ofRevoked, earlier, keptCall({ id: v7(), hash: randomHash() })]
    const results = await Promise.allSettled(calls.map(find))
    expect(results).toMatchObject([
      { value: undefined },
      { value: attached() },
      { reason: { reason: 'key_revoked' } },
      { value: attached() },
      { value: undefined },
    ])
    expect(statements).toBe(1)

    const bad = { ...earlier, app: 'a\u0000b' }
    const mixed = await Promise.allSettled([earlier, bad, earlier].map(find))
    expect(mixed.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  test('the look-up of a claim does not wait for a database that hangs longer than 1.5 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] })
    try {
      const find = createClaimLookUp({ sql: { query: () => new Promise(() => undefined) } })
      const result = expect(find(earlier)).rejects.toThrow(DeadlineError)
      await vi.advanceTimersByTimeAsync(1_510)
      await result
    } finally {
      vi.useRealTimers()
    }
  })
})
