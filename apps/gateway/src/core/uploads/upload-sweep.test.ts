import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import { newToken, shardOf } from './storage/file-address.ts'
import { INSTALLATION, listed } from './storage/storage.test-support.ts'
import { type FileStorage, StorageError } from './storage/storage.ts'
import { createUploadSweep, type SweptKind, type UploadSweep } from './upload-sweep.ts'
import {
  newTokens,
  openUploadFixture,
  ROW_BYTES,
  type Uploader,
  type UploadFixture,
} from './uploads.test-support.ts'

let fixture: UploadFixture
let uploader: Uploader
/** What all sweeps of a test have reported as deleted. */
let swept: Record<SweptKind, number>

beforeAll(async () => {
  fixture = await openUploadFixture()
})
afterAll(() => fixture.close())

beforeEach(async () => {
  await fixture.database.sql.query('TRUNCATE uploads CASCADE')
  for await (const batch of fixture.storage.list('')) {
    await fixture.storage.remove(batch.map(({ address }) => address))
  }
  uploader = await fixture.newUploader()
  swept = { expired: 0, file: 0, record: 0, unfinished: 0 }
})

interface SweepOptions {
  readonly storage?: FileStorage
  /** How many days the clock of the sweep is ahead of the files. */
  readonly inDays?: number
  readonly orphansAtOnce?: number
}

function sweepOf({ storage = fixture.storage, inDays = 0, ...more }: SweepOptions = {}): UploadSweep {
  return createUploadSweep({
    ...more,
    sql: fixture.database.sql,
    storage,
    runtime: { now: () => new Date(Date.now() + inDays * 86_400_000) },
    installation: () => INSTALLATION,
    observer: { swept: (kind, count) => (swept[kind] += count) },
  })
}

async function recorded(): Promise<string[]> {
  const rows = await fixture.database.prisma.upload.findMany({
    select: { token: true },
    orderBy: { token: 'asc' },
  })
  return rows.map(({ token }) => token)
}

async function expectLeft(tokens: readonly string[]): Promise<void> {
  const sorted = tokens.toSorted()
  expect(await recorded()).toEqual(sorted)
  expect(await listed(fixture.storage)).toEqual(sorted)
  expect(await fixture.bytesOf(uploader)).toBe(sorted.length * ROW_BYTES)
}

describe('uploads that have expired', () => {
  test('are deleted in batches until none is left, with their files, and no longer count for their owner', async () => {
    const [expired, live] = [newTokens(250), newTokens(5)]
    await fixture.insertRows(uploader, expired, { created: -8, expires: -1 })
    await fixture.insertRows(uploader, live)
    await fixture.insertFiles([...expired, ...live])
    const sweep = sweepOf()
    const counts = [
      await sweep.expired(),
      await sweep.expired(),
      await sweep.expired(),
      await sweep.expired(),
    ]
    expect(counts).toEqual([100, 100, 50, 0])
    expect(swept.expired).toBe(250)
    await expectLeft(live)
  })

  test('are kept as deletions that have begun while the storage fails, and deleted once it works', async () => {
    const expired = newTokens(3)
    await fixture.insertRows(uploader, expired, { expires: -1 })
    await fixture.insertFiles(expired)
    const broken = {
      ...fixture.storage,
      remove: () => Promise.reject(new StorageError('The storage does not answer.')),
    }
    await expect(sweepOf({ storage: broken }).expired()).rejects.toThrow(StorageError)
    expect(await fixture.database.prisma.upload.count({ where: { deletedAt: { not: null } } })).toBe(3)
    expect(await fixture.bytesOf(uploader)).toBe(3 * ROW_BYTES)
    expect(await sweepOf().expired()).toBe(3)
    await expectLeft([])
  })

  test('and deletions that were interrupted before or after the file was removed are completed', async () => {
    const [withFile, withoutFile] = [newTokens(2), newTokens(2)]
    await fixture.insertRows(uploader, [...withFile, ...withoutFile], { deleted: 0 })
    await fixture.insertFiles(withFile)
    expect(await sweepOf().expired()).toBe(4)
    await expectLeft([])
  })

  test('are counted once by sweeps at the same time', async () => {
    const expired = newTokens(250)
    await fixture.insertRows(uploader, expired, { expires: -1 })
    await fixture.insertFiles(expired)
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const sweep = sweepOf()
        while ((await sweep.expired()) > 0);
      }),
    )
    expect(swept.expired).toBe(250)
    await expectLeft([])
  })
})

describe('what only one side knows', () => {
  test('is deleted, over several batches of files and of records in the order of their tokens', async () => {
    // The listing and the records are read in batches of 1,000, whose borders differ.
    const tokens = newTokens(2_400).sort()
    const kind = (index: number) => (index % 30 === 7 ? 'file' : index % 40 === 9 ? 'record' : 'both')
    const of = (...kinds: string[]) => tokens.filter((_, index) => kinds.includes(kind(index)))
    await fixture.insertRows(uploader, of('both', 'record'), { created: -0.5 })
    await fixture.insertFiles(of('both', 'file'))
    const result = await sweepOf({ inDays: 2 }).orphans()
    expect(result).toEqual({
      files: of('file').length,
      records: of('record').length,
      unfinished: 0,
      suspicious: 0,
    })
    expect(swept).toEqual({ expired: 0, file: result.files, record: result.records, unfinished: 0 })
    await expectLeft(of('both'))
  })

  test('is kept while it is young, since the other side may follow', async () => {
    const [files, records] = [newTokens(2), newTokens(2)]
    await fixture.insertFiles(files)
    await fixture.insertRows(uploader, records)
    const nothing = { files: 0, records: 0, unfinished: 0, suspicious: 0 }
    expect(await sweepOf({ inDays: 0.9 }).orphans()).toEqual(nothing)
    expect(await listed(fixture.storage)).toEqual(files.sort())
    expect(await recorded()).toEqual(records.sort())
  })

  test('is never a file of another installation, or one whose record was written after the listing', async () => {
    const foreign = newToken(systemRuntime, 'another_')
    const late = newTokens(1)
    await fixture.insertFiles([foreign, ...late])
    const storage: FileStorage = {
      ...fixture.storage,
      async remove(addresses) {
        expect(addresses).toEqual([])
      },
      async *list(prefix) {
        yield* fixture.storage.list(prefix)
        // The last range of records has been read by now, so only the second look can find this one.
        await fixture.insertRows(uploader, late)
      },
    }
    expect(await sweepOf({ storage, inDays: 2 }).orphans()).toMatchObject({ files: 0, records: 0 })
    await expectLeft(late)
    await fixture.storage.remove([{ token: foreign, name: '' }])
  })

  test('is found where S3 lists pages without any file of ours', async () => {
    const tokens = newTokens(60)
    const lost = newTokens(1)
    await fixture.insertRows(uploader, [...tokens, ...lost], { created: -0.5 })
    await fixture.insertFiles(tokens)
    const storage: FileStorage = {
      ...fixture.storage,
      async *list(prefix) {
        yield []
        yield* fixture.storage.list(prefix)
        yield []
      },
    }
    expect(await sweepOf({ storage }).orphans()).toMatchObject({ records: 1, suspicious: 0 })
    await expectLeft(tokens)
  })

  test('is deleted once by sweeps at the same time', async () => {
    const [files, records] = [newTokens(150), newTokens(80)]
    await fixture.insertFiles(files)
    await fixture.insertRows(uploader, records, { created: -0.5 })
    await Promise.all([1, 2, 3].map(() => sweepOf({ inDays: 2 }).orphans()))
    expect(swept.record).toBe(80)
    await expectLeft([])
  })

  test.each([
    ['all of 100 records', 100, 0, 0],
    ['101 of 1,010 records', 101, 909, 0],
    ['101 of 1,009 records', 101, 908, 101],
  ])('is deleted unless it is too much: if %s lack their files', async (_, lost, found, suspicious) => {
    const tokens = newTokens(found)
    const lostTokens = newTokens(lost)
    await fixture.insertRows(uploader, [...tokens, ...lostTokens], { created: -0.5 })
    await fixture.insertFiles(tokens)
    const expected = { records: suspicious > 0 ? 0 : lost, suspicious }
    expect(await sweepOf().orphans()).toMatchObject(expected)
    expect(await recorded()).toEqual([...tokens, ...(suspicious > 0 ? lostTokens : [])].sort())
  })

  test('is deleted up to a bound at a time, which does not hide that it is too much', async () => {
    const [files, records] = [newTokens(13), newTokens(13)]
    await fixture.insertFiles(files)
    await fixture.insertRows(uploader, records, { created: -0.5 })
    const sweep = sweepOf({ inDays: 2, orphansAtOnce: 5 })
    const counts = [await sweep.orphans(), await sweep.orphans(), await sweep.orphans()]
    expect(counts.map((count) => [count.files, count.records])).toEqual([
      [5, 5],
      [5, 5],
      [3, 3],
    ])
    await fixture.insertRows(uploader, newTokens(101), { created: -0.5 })
    expect(await sweep.orphans()).toMatchObject({ records: 0, suspicious: 101 })
  })

  test('is deleted also where unfinished writes may not be listed, and they where files may not be', async () => {
    const denied = new StorageError('The credentials do not permit this request.')
    const [lost, orphan] = [newTokens(1), newTokens(1)]
    await fixture.insertRows(uploader, lost, { created: -0.5 })
    await fixture.insertFiles(orphan)
    const withoutUploads = { ...fixture.storage, removeUnfinished: () => Promise.reject(denied) }
    await expect(sweepOf({ storage: withoutUploads, inDays: 2 }).orphans()).rejects.toBe(denied)
    await expectLeft([])
    expect(swept).toEqual({ expired: 0, file: 1, record: 1, unfinished: 0 })

    const path = fixture.storage.pathOf({ token: orphan[0] ?? '', name: '' })
    const unfinished = join(path.slice(0, path.indexOf(`/${shardOf(orphan[0] ?? '')}/`)), 'unfinished', 'x')
    await writeFile(unfinished, '')
    await utimes(unfinished, 0, 0)
    const withoutFiles: FileStorage = {
      ...fixture.storage,
      // biome-ignore lint/correctness/useYield: a listing that fails at its first page
      async *list() {
        throw denied
      },
    }
    await expect(sweepOf({ storage: withoutFiles }).orphans()).rejects.toBe(denied)
    expect(swept.unfinished).toBe(1)
  })
})
