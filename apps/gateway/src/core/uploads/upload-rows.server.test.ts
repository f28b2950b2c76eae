import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hashKey } from '#core/accounts/keys/key-format.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { createLedger, type Ledger } from '#core/ledger/ledger.ts'
import { admissionOf } from '#core/reports/usage.test-support.ts'
import { beginExpired, finishDeletions, insertUpload, spaceLeft, uploadFiles } from './upload-rows.ts'
import {
  newTokens,
  newUpload,
  openUploadFixture,
  ROW_BYTES,
  type Uploader,
  type UploadFixture,
} from './uploads.test-support.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const MUCH = { retentionDays: 7, bytesPerOwnerMax: 1_000_000 }

describe(serverUrl === undefined ? 'embedded' : 'server', () => {
  let fixture: UploadFixture
  let uploader: Uploader
  let ledger: Ledger

  beforeAll(async () => {
    fixture = await openUploadFixture(serverUrl)
    const { sql, lanes } = fixture.database
    ledger = createLedger({
      sql,
      admissionSql: lanes.admissions,
      runtime: systemRuntime,
      instanceId: v7(),
      observer: { batch: () => undefined, settleFailed: () => undefined },
    })
  })
  afterAll(async () => {
    await ledger.close(5_000)
    await fixture.close()
  })
  beforeEach(async () => {
    uploader = await fixture.newUploader()
  })

  const insert = (by: Uploader, bounds = MUCH) => insertUpload(fixture.database.sql, newUpload(by), bounds)
  const begin = (ids: readonly string[]) =>
    fixture.database.prisma.upload.updateMany({
      where: { id: { in: [...ids] } },
      data: { deletedAt: new Date() },
    })
  const rowsOf = ({ owner }: Uploader) =>
    fixture.database.prisma.upload.count({ where: { ownerId: owner.userId } })

  test('an upload expires after its retention, by the clock of the database', async () => {
    const upload = await insert(uploader, { ...MUCH, retentionDays: 3 })
    expect(upload.expiresAt.getTime() - upload.createdAt.getTime()).toBe(3 * 86_400_000)
    const row = await fixture.database.prisma.upload.findUniqueOrThrow({ where: { id: upload.id } })
    expect(row).toEqual(upload)
  })

  test('of uploads at the same time, exactly those that fit into the space of their owner are recorded', async () => {
    const other = await fixture.newUploader()
    const bounds = { ...MUCH, bytesPerOwnerMax: 20 * ROW_BYTES + 5 }
    const results = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        if (index % 3 === 0) await insert(other)
        return insert(uploader, bounds).then(
          () => 'recorded',
          (error: unknown) => (error instanceof Problem ? error.reason : error),
        )
      }),
    )
    expect(results.filter((result) => result === 'recorded')).toHaveLength(20)
    expect(results.filter((result) => result === 'upload_space_used_up')).toHaveLength(40)
    expect([await rowsOf(uploader), await fixture.bytesOf(uploader)]).toEqual([20, 20 * ROW_BYTES])
    expect(await fixture.bytesOf(other)).toBe(20 * ROW_BYTES)
    expect(await spaceLeft(fixture.database.sql, uploader.owner.userId, bounds)).toBe(5)
  })

  test('a deletion that several processes finish is subtracted once', async () => {
    const other = await fixture.newUploader()
    const uploads = await Promise.all(
      Array.from({ length: 40 }, (_, index) => insert(index % 2 === 0 ? uploader : other)),
    )
    const ids = uploads.map(({ id }) => id)
    await begin(ids.slice(0, 30))
    const counts = await Promise.all(
      [ids, ids.toReversed(), ids.slice(5), ids].map((each) => finishDeletions(fixture.database.sql, each)),
    )
    expect(counts.reduce((sum, count) => sum + count)).toBe(30)
    // An upload whose deletion has not begun is not deleted.
    expect([await rowsOf(uploader), await rowsOf(other)]).toEqual([5, 5])
    expect(await fixture.bytesOf(uploader)).toBe(5 * ROW_BYTES)
    expect(await fixture.bytesOf(other)).toBe(5 * ROW_BYTES)
  })

  test('of sweeps at the same time each begins other deletions', async () => {
    await fixture.insertRows(uploader, newTokens(120), { expires: -1 })
    const batches = await Promise.all([1, 2, 3, 4].map(() => beginExpired(fixture.database.sql, 50)))
    expect(batches.flat().length).toBeLessThanOrEqual(120)
    while ((await beginExpired(fixture.database.sql, 50)).length > 0);
    expect(
      await fixture.database.prisma.upload.count({
        where: { deletedAt: null, ownerId: uploader.owner.userId },
      }),
    ).toBe(0)
  })

  test('uploads, deletions and admissions of the same users do not lock each other out', async () => {
    const uploaders = [uploader, ...(await Promise.all([1, 2, 3, 4].map(() => fixture.newUploader())))]
    const any = () => uploaders[Math.floor(Math.random() * uploaders.length)] ?? uploader
    const admit = (by: Uploader) =>
      ledger.admit(admissionOf({ id: by.keyId, hash: hashKey(by.fullKey) }, { kind: 'upload', agent: '' }))
    let deleted = 0
    const uploadAndDelete = async () => {
      const uploads = await Promise.all(Array.from({ length: 6 }, () => insert(any())))
      const ids = uploads.map(({ id }) => id)
      await begin(ids)
      const counts = await Promise.all(
        [ids, ids.toReversed()].map((each) => finishDeletions(fixture.database.sql, each)),
      )
      deleted += counts.reduce((sum, count) => sum + count)
    }
    const work = Array.from({ length: 25 }, () => [uploadAndDelete(), ...uploaders.map(admit), insert(any())])
    await Promise.all(work.flat())
    expect(deleted).toBe(150)
    const calls = await fixture.database.prisma.call.count({
      where: { ownerId: { in: uploaders.map(({ owner }) => owner.userId) } },
    })
    expect(calls).toBe(125)
    let rows = 0
    for (const each of uploaders) {
      expect(await fixture.bytesOf(each)).toBe((await rowsOf(each)) * ROW_BYTES)
      rows += await rowsOf(each)
    }
    expect(rows).toBe(25)
  })

  test('the files of all uploads are read in batches in the order of their ids, without those being deleted', async () => {
    const { prisma, sql } = fixture.database
    await sql.query('TRUNCATE uploads CASCADE')
    await fixture.insertRows(uploader, newTokens(1_003))
    await fixture.insertRows(uploader, newTokens(5), { deleted: 0 })
    const first = await uploadFiles(prisma, undefined)
    const second = await uploadFiles(prisma, first.last)
    expect([first.files.length, second.files.length, second.last]).toEqual([1_000, 3, undefined])
    const tokens = [...first.files, ...second.files].map(({ token }) => token)
    expect(new Set(tokens).size).toBe(1_003)
  })
})
