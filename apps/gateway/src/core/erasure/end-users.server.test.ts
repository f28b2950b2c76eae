import { once } from 'node:events'
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

/** What a storage does that is asked and does not answer. */
async function storageError(inTime: AbortSignal | undefined): Promise<never> {
  if (inTime === undefined) throw new Error('nothing would end the removal')
  if (!inTime.aborted) await once(inTime, 'abort')
  throw new StorageError('the bucket does not answer in time')
}

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
  function endUsersWith(broken: { statement?: Error | undefined; storage?: Error | 'silent' | undefined }) {
    const { sql } = fixture.database
    const appended: NewEvent[] = []
    const statements: string[] = []
    const erasures: Sql = {
      query(text, values) {
        statements.push(text)
        // The statements that rename come last, after everything else is deleted.
        if (broken.statement !== undefined && text.includes('DELETE FROM rollups'))
          return Promise.reject(broken.statement)
        return sql.query(text, values)
      },
    }
    const endUsers = createEndUsers({
      sql,
      erasures,
      stalledMs: 1,
      storage: {
        async remove(_files, inTime) {
          if (broken.storage === 'silent') await storageError(inTime)
          else if (broken.storage !== undefined) throw broken.storage
        },
      },
      callStops: { stop: () => Promise.reject(new Error('no call runs')) },
      derivedIds: createDerivedIds({ value: 'secret' }),
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
    return { endUsers, appended, statements }
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
      expect([erased.complete, await callsOf('zoe')]).toEqual([true, 0])
      expect(appended).toMatchObject([{}, { after: { complete: true } }])
    },
  )

  test('of a name that no call has given is a dozen statements, however long its owner has called', async () => {
    const { endUsers, statements } = endUsersWith({})
    const { sql } = fixture.database
    await call('anybody')
    await sql.query(
      `INSERT INTO rollups SELECT (jsonb_populate_record(r, jsonb_build_object('bucket', r.bucket - day * interval '1 day'))).*
       FROM rollups r CROSS JOIN generate_series(1, 400) AS day WHERE span = 'day' AND subject IN ($1, $2)
       ON CONFLICT DO NOTHING`,
      [key.ownerId, key.id],
    )
    expect(await endUsers.erase(owner(), { endUser: 'a stranger' })).toMatchObject({ complete: true })
    expect(statements.length).toBeLessThanOrEqual(12)
    expect(statements.join()).not.toMatch(/INSERT|DELETE FROM rollups/)
  })

  test.each([
    ['fails', new StorageError('the bucket is away')],
    ['is silent', 'silent' as const],
  ])(
    'whose storage %s says how many files are left, and a repetition removes them',
    async (_how, storage) => {
      await call('ben')
      const file = {
        id: v7(),
        callId: v7(),
        token: v7(),
        ownerId: key.ownerId,
        keyId: key.id,
        endUser: 'ben',
      }
      const texts = {
        urlName: 'a.txt',
        filename: 'a.txt',
        mediaType: 'text/plain',
        sha256: '',
        createdBy: '',
      }
      const { upload: uploads } = fixture.database.prisma
      const times = { createdAt: new Date(), expiresAt: inDays(1) }
      const more = Array.from({ length: 100 }, () => ({ ...file, id: v7(), token: v7() }))
      await uploads.createMany({
        data: [file, ...more].map((each) => ({ ...each, ...texts, ...times, size: 1n })),
      })
      const broken: Parameters<typeof endUsersWith>[0] = { storage }
      const { endUsers } = endUsersWith(broken)
      const failed = await endUsers.erase(owner(), { endUser: 'ben' })
      expect(failed).toMatchObject({ complete: false, deletedUploads: 0, remainingUploads: 101 })
      // None of them can be read any more, also beyond those of one request to the storage.
      expect(await uploads.count({ where: { ownerId: key.ownerId, deletedAt: null } })).toBe(0)
      // What only the file waits for is erased nonetheless.
      expect(await callsOf('ben')).toBe(0)
      broken.storage = undefined
      const repeated = await endUsers.erase(owner(), { endUser: 'ben' })
      expect(repeated).toMatchObject({ complete: true, deletedUploads: 101, remainingUploads: 0 })
      expect(await uploads.count({ where: { id: file.id } })).toBe(0)
    },
  )
})
