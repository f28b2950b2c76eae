import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PassThrough } from 'node:stream'
import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { OPENING_MS } from '#core/auth/users.test-support.ts'
import { type ErrorReason, Problem } from '#core/errors.ts'
import { readPage } from '#core/input/pagination.ts'
import { createKeyLimitsReader } from '#core/keys/key-limits.ts'
import { createAdmission } from '#core/ledger/admission.ts'
import { createLedger, type Ledger } from '#core/ledger/ledger.ts'
import type { Principal } from '#core/principal.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { createTypeCheck } from './content/file-type.ts'
import { INSTALLATION } from './storage/storage.test-support.ts'
import { StorageError } from './storage/storage.ts'
import { insertUpload } from './upload-rows.ts'
import {
  newUpload,
  openUploadFixture,
  ROW_BYTES,
  type Uploader,
  type UploadFixture,
} from './uploads.test-support.ts'
import { addressOf, createUploads, type Uploads, type UploadsDeps, type UploadTurns } from './uploads.ts'

const BOUNDS = { retentionDays: 7, bytesPerOwnerMax: 1_000, maxBytes: 1_000 }
const WEEK_SECONDS = 7 * 86_400

let fixture: UploadFixture
let ledger: Ledger
let uploads: Uploads
let uploader: Uploader

beforeAll(async () => {
  fixture = await openUploadFixture()
  const { sql } = fixture.database
  const observer = { batch: () => undefined, settleFailed: () => undefined }
  ledger = createLedger({ sql, runtime: fixture.runtime, instanceId: v7(), observer })
  uploads = uploadsOf()
}, OPENING_MS)
afterAll(async () => {
  await ledger.close(5_000)
  await fixture.close()
})
beforeEach(async () => {
  uploader = await fixture.newUploader()
})

function uploadsOf(more: Partial<UploadsDeps> = {}, turns: Partial<UploadTurns> = {}): Uploads {
  const { database, runtime, storage, limits } = fixture
  const { sql, prisma } = database
  const keyLimits = createKeyLimitsReader({ sql, runtime })
  return createUploads({
    ...{ sql, prisma, runtime, storage, ledger, bounds: BOUNDS, agents: new Map() },
    turns: { inFlightMax: 2, inFlightPerOwnerMax: 1, waitMs: 30_000, ...turns },
    admission: createAdmission({ limits, keyLimits, ledger }),
    keyWatch: { watch: () => () => undefined },
    checkType: createTypeCheck(['text/plain']),
    installation: () => INSTALLATION,
    times: { stalledMs: 1_000, timeoutMs: 1_000 },
    observer: { started: () => undefined, ended: () => undefined },
    ...more,
  }).uploads
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
    expect(() => uploads.visibleTo(caller)).toThrow(Problem)
  })

  test('in pages, with the columns that are asked for, and through relations', async () => {
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
    const owner = await fixture.database.prisma.user.findUniqueOrThrow({
      where: { id: uploader.owner.userId },
      include: { uploads: { where: uploads.visibleTo(second.caller) } },
    })
    expect(owner.uploads).toEqual([])
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

describe('an upload whose key is not valid any more', () => {
  const LABEL = { kind: 'field', name: 'created_by', value: 'me' } as const
  const fileOf = (body: PassThrough) => ({
    ...({ kind: 'file', name: 'file' } as const),
    ...{ filename: 'a.txt', body, problemOf: () => new Problem('invalid_request') },
  })

  /** Sends an upload up to the given parts, ends its key, and returns what it ended with and how it was settled. */
  async function endAfter(parts: () => AsyncGenerator<ReturnType<typeof fileOf> | typeof LABEL>) {
    const settle = vi.fn<Ledger['settle']>()
    const ends: string[] = []
    const refused = Promise.withResolvers<(reason: ErrorReason) => void>()
    const receiving = uploadsOf({
      ledger: { ...ledger, settle },
      keyWatch: {
        watch(key, onRefused) {
          expect(key).toMatchObject({ keyId: uploader.keyId, ownerId: uploader.owner.userId })
          refused.resolve(onRefused)
          return () => ends.push('the watch')
        },
      },
    }).receive(
      uploader.caller,
      {
        ...({ requestId: '', face: 'rest', address: '', agent: undefined } as const),
        credential: uploader.fullKey,
      },
      parts(),
      new AbortController().signal,
      { onLimit: () => undefined, onAdmitted: () => undefined },
    )
    const reason = receiving.then(
      () => 'stored',
      (error) => error.reason,
    )
    const refuse = await refused.promise
    return { refuse, reason, settle, ends }
  }
  async function files(): Promise<string[]> {
    const folder = dirname(
      dirname(fixture.storage.pathOf({ token: newUpload(uploader).token, name: 'a.txt' })),
    )
    const found = await readdir(folder, { recursive: true, withFileTypes: true })
    return found.filter((entry) => entry.isFile()).map(({ name }) => name)
  }
  const REJECTED = [[expect.objectContaining({ outcome: 'rejected', reason: 'key_revoked' })]]

  test('in the middle of its file is rejected at once, and nothing is left', async () => {
    const before = await files()
    const body = new PassThrough()
    body.write('Hello')
    const upload = await endAfter(async function* () {
      yield LABEL
      yield fileOf(body)
    })
    upload.refuse('key_revoked')
    expect(await upload.reason).toBe('key_revoked')
    expect([upload.settle.mock.calls, upload.ends]).toEqual([REJECTED, ['the watch']])
    await vi.waitFor(async () => expect(await files()).toEqual(before))
  })

  test('after its file is rejected as well, and nothing is left', async () => {
    const before = await files()
    const body = new PassThrough()
    body.end('Hello')
    const stored = Promise.withResolvers<void>()
    const upload = await endAfter(async function* () {
      yield fileOf(body)
      stored.resolve()
      // The rest of the form never arrives.
      await new Promise(() => undefined)
    })
    await stored.promise
    upload.refuse('key_revoked')
    expect(await upload.reason).toBe('key_revoked')
    expect([upload.settle.mock.calls, upload.ends]).toEqual([REJECTED, ['the watch']])
    expect(await files()).toEqual(before)
    expect(await fixture.bytesOf(uploader)).toBe(0)
  })

  test('that has ended is not ended again', async () => {
    const body = new PassThrough()
    body.end('Hello')
    const upload = await endAfter(async function* () {
      yield LABEL
      yield fileOf(body)
    })
    expect(await upload.reason).toBe('stored')
    upload.refuse('key_revoked')
    expect(upload.settle.mock.calls).toEqual([[expect.objectContaining({ outcome: 'done' })]])
    expect(upload.ends).toEqual(['the watch'])
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
        ...{ reason: 'unavailable', cause: expect.any(StorageError) },
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
