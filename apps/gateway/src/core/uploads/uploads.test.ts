import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import { ampleLimits } from '#core/limits/limits.test-support.ts'
import { createTakeWrite } from '#core/limits/writes.ts'
import { readPage } from '#core/requests/input/pagination.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { StorageError } from './storage/storage.ts'
import { insertUpload } from './upload-rows.ts'
import {
  newUpload,
  openUploadFixture,
  ROW_BYTES,
  type Uploader,
  type UploadFixture,
} from './uploads.test-support.ts'
import { addressOf, createUploads, type Uploads, type UploadsDeps } from './uploads.ts'

const BOUNDS = { retentionDays: 7, bytesPerOwnerMax: 1_000, maxBytes: 1_000 }
const WEEK_SECONDS = 7 * 86_400

let fixture: UploadFixture
let uploads: Uploads
let uploader: Uploader

beforeAll(async () => {
  fixture = await openUploadFixture()
  uploads = uploadsOf()
})
afterAll(async () => {
  await fixture.close()
})
beforeEach(async () => {
  uploader = await fixture.newUploader()
})

function uploadsOf(more: Partial<UploadsDeps> = {}): Uploads {
  const { database, runtime, storage } = fixture
  const { sql, prisma } = database
  const takeWrite = createTakeWrite(ampleLimits())
  return createUploads({ sql, prisma, runtime, storage, takeWrite, ...more })
}

/** An upload as it is once it has been received. */
async function store(by: Uploader, more: Parameters<typeof newUpload>[1] = {}): Promise<Upload> {
  const upload = await insertUpload(fixture.database.sql, newUpload(by, more), BOUNDS)
  await fixture.insertFiles([upload.token])
  return upload
}

/** Another key of the same user. */
async function secondKey(
  { owner }: Uploader,
  permissions: ('upload' | 'chat' | 'admin')[] = ['upload'],
): Promise<Uploader> {
  // Only an administrator may grant every permission.
  const creator = await fixture.join('admin')
  const { id, fullKey, caller } = await fixture.keyOf(creator, { permissions, ownerId: owner.userId })
  return { owner, keyId: id, fullKey, caller }
}

async function reasonOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work()
    return 'allowed'
  } catch (error) {
    if (error instanceof Problem) return error.reason
    throw error
  }
}

const idsOf = async (caller: Principal) => (await uploads.list(caller, { take: 100 })).map(({ id }) => id)

describe('an upload is visible', () => {
  test('to its owner with all keys of the owner, newest first, and to a key that made it', async () => {
    const second = await secondKey(uploader)
    const [first, other, last] = [await store(uploader), await store(second), await store(uploader)]
    const manager = await secondKey(uploader, ['admin'])
    for (const caller of [uploader.owner, manager.caller]) {
      expect(await idsOf(caller)).toEqual([last.id, other.id, first.id])
      expect(await uploads.count(caller)).toBe(3)
      expect(await uploads.find(caller, other.id)).toEqual(other)
    }
    expect(await idsOf(uploader.caller)).toEqual([last.id, first.id])
    expect(await idsOf(second.caller)).toEqual([other.id])
    expect(await uploads.count(second.caller)).toBe(1)
    expect(await reasonOf(() => uploads.find(second.caller, first.id))).toBe('upload_not_found')
  })

  test('to nobody else, not even an administrator, and is not found as if it did not exist', async () => {
    const { id } = await store(uploader)
    const neighbour = await fixture.newUploader()
    const admin = await fixture.join('admin')
    for (const caller of [neighbour.owner, neighbour.caller, admin]) {
      expect(await idsOf(caller)).toEqual([])
      const [theirs, unknown] = await Promise.all(
        [id, v7()].map((each) => uploads.find(caller, each).catch((error: unknown) => error)),
      )
      expect(theirs).toBeInstanceOf(Problem)
      expect(theirs).toEqual(unknown)
      expect(await reasonOf(() => uploads.remove(caller, id))).toBe('upload_not_found')
    }
    expect(await reasonOf(() => uploads.find(uploader.owner, 'no-id'))).toBe('upload_not_found')
    expect(await idsOf(uploader.caller)).toEqual([id])
  })

  test('not to a key that may only chat', async () => {
    const { caller } = await secondKey(uploader, ['chat'])
    for (const ask of [
      () => uploads.list(caller, { take: 1 }),
      () => uploads.count(caller),
      () => uploads.find(caller, v7()),
      () => uploads.remove(caller, v7()),
    ]) {
      expect(await reasonOf(ask)).toBe('permission_denied')
    }
  })

  test('in pages, with the columns that are asked for, and not for another key', async () => {
    const ids: string[] = []
    for (let count = 0; count < 5; count += 1) ids.unshift((await store(uploader)).id)
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await readPage({ limit: 2, cursor }, (query) => uploads.list(uploader.caller, query))
      found.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(found).toEqual(ids)
    const [id = ''] = ids
    expect(await uploads.find(uploader.caller, id, { select: { filename: true } })).toEqual({
      filename: 'a.txt',
    })
    const second = await secondKey(uploader)
    expect(await uploads.findMany(second.caller, ids)).toEqual([])
  })

  test('until it expires, and its URL with it', async () => {
    const upload = await store(uploader)
    const opened = await uploads.openByAddress(addressOf(upload))
    expect(opened).toMatchObject({ upload: { id: upload.id }, isAttachment: false })
    fixture.clock.passSeconds(WEEK_SECONDS - 60)
    expect(await idsOf(uploader.caller)).toEqual([upload.id])
    fixture.clock.passSeconds(60)
    expect(await idsOf(uploader.caller)).toEqual([])
    expect(await uploads.count(uploader.caller)).toBe(0)
    for (const ask of [
      () => uploads.find(uploader.caller, upload.id),
      () => uploads.remove(uploader.caller, upload.id),
      () => uploads.openByAddress(addressOf(upload)),
    ]) {
      expect(await reasonOf(ask)).toBe('upload_not_found')
    }
    fixture.clock.passSeconds(-WEEK_SECONDS)
  })
})

describe('the URL of an upload', () => {
  test('leads to it', async () => {
    const upload = await store(uploader, { urlName: 'Größe 2.txt' })
    const url = await uploads.urlOf(upload)
    expect(url).toBe(`https://gateway.example/files/${upload.token}/Gr%C3%B6%C3%9Fe%202.txt`)
    const address = fixture.storage.addressOf(new URL(url))
    const { path } = await uploads.openByAddress(address ?? { token: '', name: '' })
    expect(await readFile(path, 'utf8')).toBe('a'.repeat(ROW_BYTES))
  })

  test('leads to nothing with another name or another token, or one that would leave the folder', async () => {
    const { token, urlName: name } = await store(uploader)
    const { token: other } = newUpload(uploader)
    for (const address of [
      { token, name: 'b.txt' },
      { token: other, name },
      { token: '../../etc/passwd', name },
      { token: '', name },
    ]) {
      expect(await reasonOf(() => uploads.openByAddress(address))).toBe('upload_not_found')
    }
  })
})

describe('a deletion', () => {
  test('removes file, record and URL, and frees the space', async () => {
    const [upload, kept] = [await store(uploader), await store(uploader)]
    await uploads.remove(uploader.caller, upload.id)
    expect(existsSync(fixture.storage.pathOf(addressOf(upload)))).toBe(false)
    expect(await fixture.bytesOf(uploader)).toBe(ROW_BYTES)
    expect(await idsOf(uploader.caller)).toEqual([kept.id])
    expect(await reasonOf(() => uploads.openByAddress(addressOf(upload)))).toBe('upload_not_found')
    expect(await reasonOf(() => uploads.remove(uploader.caller, upload.id))).toBe('upload_not_found')
  })

  test('takes effect for callers although the storage fails, and can be repeated', async () => {
    const upload = await store(uploader)
    const broken = uploadsOf({
      storage: { ...fixture.storage, remove: () => Promise.reject(new StorageError('It does not answer.')) },
    })
    for (const _ of [1, 2]) {
      await expect(broken.remove(uploader.caller, upload.id)).rejects.toMatchObject({
        reason: 'unavailable',
        cause: expect.any(StorageError),
      })
      expect(await idsOf(uploader.caller)).toEqual([])
      expect(await reasonOf(() => uploads.find(uploader.caller, upload.id))).toBe('upload_not_found')
      expect(await reasonOf(() => uploads.openByAddress(addressOf(upload)))).toBe('upload_not_found')
      // The file is still there.
      expect(await fixture.bytesOf(uploader)).toBe(ROW_BYTES)
    }
    const neighbour = await fixture.newUploader()
    expect(await reasonOf(() => uploads.remove(neighbour.caller, upload.id))).toBe('upload_not_found')
    await uploads.remove(uploader.caller, upload.id)
    expect(existsSync(fixture.storage.pathOf(addressOf(upload)))).toBe(false)
    expect(await fixture.bytesOf(uploader)).toBe(0)
  })

  test('at the same time as another is subtracted once', async () => {
    const [upload] = [await store(uploader), await store(uploader)]
    const reasons = await Promise.all(
      [1, 2, 3].map(() => reasonOf(() => uploads.remove(uploader.caller, upload.id))),
    )
    expect(reasons).toContain('allowed')
    expect(await fixture.bytesOf(uploader)).toBe(ROW_BYTES)
  })
})
