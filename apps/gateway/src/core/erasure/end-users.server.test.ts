import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NewEvent } from '#core/audit/audit.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { createDerivedIds } from '#core/calls/conversation/derived-ids.ts'
import type { Sql } from '#core/database/database.ts'
import {
  admissionOf,
  inDays,
  type KeyRow,
  type LedgerFixture,
  LOST,
  openLedgerFixture,
} from '#core/ledger/ledger.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { StorageError } from '#core/uploads/storage/storage.ts'
import { createEndUsers } from './end-users.ts'

const FULL = Object.assign(new Error('could not extend file'), { code: '53100' })

const serverUrl = process.env.E2E_DATABASE_URL

describe(`an erasure, ${serverUrl === undefined ? 'embedded' : 'server'},`, () => {
  let fixture: LedgerFixture
  let key: KeyRow
  beforeAll(async () => {
    fixture = await openLedgerFixture(serverUrl)
    key = await fixture.keyOf()
  })
  afterAll(() => fixture.close())

  const owner = (): Principal => ({
    userId: key.ownerId,
    role: 'user',
    via: { kind: 'token', tokenId: v7(), expiresAt: inDays(1) },
  })

  /** No agents, so that only rows and files of this gateway are left to erase. `broken` is thrown where it is set. */
  function endUsersWith(broken: { statement?: Error | undefined; storage?: Error | undefined }) {
    const { sql } = fixture.database
    const appended: NewEvent[] = []
    const upkeep: Sql = {
      query(text, values) {
        // The statements that rename come last, after everything else is deleted.
        if (broken.statement !== undefined && text.includes('DELETE FROM rollups'))
          return Promise.reject(broken.statement)
        return sql.query(text, values)
      },
    }
    const endUsers = createEndUsers({
      sql,
      upkeep,
      storage: {
        async remove() {
          if (broken.storage !== undefined) throw broken.storage
        },
      },
      callStops: { stop: () => Promise.reject(new Error('no call runs')) },
      derivedIds: createDerivedIds(() => 'secret'),
      takeWrite: async () => undefined,
      audit: {
        async append(_actor, change) {
          appended.push(change)
        },
      },
      runtime: systemRuntime,
      catalog: { current: () => new Map() },
      upstream: {} as never,
      stored: {} as never,
    })
    return { endUsers, appended }
  }

  async function call(endUser: string): Promise<void> {
    const ledger = fixture.ledgerOf()
    const admission = admissionOf(key, { endUser })
    await ledger.admit(admission)
    ledger.settle({ callId: admission.callId, outcome: 'done', durationMs: 100 })
    await ledger.close(30_000)
  }

  const callsOf = async (endUser: string) => {
    const where = { ownerId: key.ownerId, endUser }
    return fixture.database.prisma.call.count({ where })
  }

  test.each([
    ['is lost', LOST],
    ['has a full disk', FULL],
  ])(
    'whose database %s on its way is in the audit log, and is finished by a repetition',
    async (_when, failure) => {
      await call('zoe')
      const broken: { statement?: Error | undefined } = { statement: failure }
      const { endUsers, appended } = endUsersWith(broken)
      await expect(endUsers.erase(owner(), { endUser: 'zoe' })).rejects.toBe(failure)
      expect(appended).toMatchObject([
        {
          operation: 'endUsers.erase',
          targetId: expect.stringMatching(/^erased-/),
          after: { complete: false },
        },
      ])
      expect(JSON.stringify(appended)).not.toContain('zoe')
      broken.statement = undefined
      const erased = await endUsers.erase(owner(), { endUser: 'zoe' })
      expect([erased.isComplete, await callsOf('zoe')]).toEqual([true, 0])
      expect(appended).toMatchObject([{}, { after: { complete: true } }])
    },
  )

  test('whose storage fails says how many files are left, and a repetition removes them', async () => {
    await call('ben')
    const file = { id: v7(), callId: v7(), token: v7(), ownerId: key.ownerId, keyId: key.id, endUser: 'ben' }
    const texts = { urlName: 'a.txt', filename: 'a.txt', mediaType: 'text/plain', sha256: '', createdBy: '' }
    const { upload: uploads } = fixture.database.prisma
    const times = { createdAt: new Date(), expiresAt: inDays(1) }
    await uploads.create({ data: { ...file, ...texts, ...times, size: 1n } })
    const broken: { storage?: Error | undefined } = { storage: new StorageError('the bucket is away') }
    const { endUsers } = endUsersWith(broken)
    const failed = await endUsers.erase(owner(), { endUser: 'ben' })
    expect(failed).toMatchObject({ isComplete: false, deletedUploads: 0, remainingUploads: 1 })
    // What only the file waits for is erased nonetheless.
    expect(await callsOf('ben')).toBe(0)
    broken.storage = undefined
    const repeated = await endUsers.erase(owner(), { endUser: 'ben' })
    expect(repeated).toMatchObject({ isComplete: true, deletedUploads: 1, remainingUploads: 0 })
    expect(await uploads.count({ where: { id: file.id } })).toBe(0)
  })
})
