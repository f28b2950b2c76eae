import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream'
import { v7 } from 'uuid'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { createTypeCheck } from '#core/uploads/content/file-type.ts'
import { INSTALLATION } from '#core/uploads/storage/storage.test-support.ts'
import { StorageError } from '#core/uploads/storage/storage.ts'
import {
  newUpload,
  openUploadFixture,
  type Uploader,
  type UploadFixture,
} from '#core/uploads/uploads.test-support.ts'
import { createUploads } from '#core/uploads/uploads.ts'
import { type CallFiles, type FileNotKept, KEPT_FILES_MAX } from './call-files.ts'
import { createFileKeeper, type FileKeeper, type FileKeeperDeps } from './file-keeper.ts'
import {
  type FileServer,
  type Internet,
  openInternet,
  PUBLIC_ADDRESS,
  startFileServer,
} from './internet.test-support.ts'

const PNG = readFileSync(new URL('../content/fixtures/pillow.png', import.meta.url))
const MIB = 1024 * 1024
const BOUNDS = { retentionDays: 7, bytesPerOwnerMax: 200 * MIB, maxBytes: 100 * MIB }
/** The machine may be busy while a connection is made. */
const TIMEOUTS = { connectMs: 30_000, firstByteMs: 1, idleMs: 1, totalMs: 1 }

let fixture: UploadFixture
let internet: Internet
let server: FileServer
let uploader: Uploader
let lost: FileNotKept[]
let keeper: FileKeeper

beforeAll(async () => {
  fixture = await openUploadFixture()
})
afterAll(() => fixture.close())
beforeEach(async () => {
  internet = openInternet()
  internet.names.set('cdn.example.com', [[PUBLIC_ADDRESS]])
  server = await startFileServer()
  server.answer = (_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG)
  uploader = await fixture.newUploader()
  lost = []
  keeper = keeperOf()
})
afterEach(async () => {
  await keeper.close()
  await server.close()
  internet.close()
})

function keeperOf(more: Partial<FileKeeperDeps> = {}): FileKeeper {
  const { runtime, storage, database } = fixture
  return createFileKeeper({
    sql: database.sql,
    storage,
    runtime,
    checkType: createTypeCheck(['image/*', 'audio/*', 'text/*', 'application/pdf']),
    installation: () => INSTALLATION,
    bounds: BOUNDS,
    lookups: internet.lookups,
    observe: (file) => lost.push(file),
    ...more,
  })
}

const urlOf = (path = '/a.png') => `http://cdn.example.com:${server.port}${path}`
const agent = agentOf('dify', { timeouts: TIMEOUTS })

function filesOf(more: Partial<Parameters<FileKeeper['ofCall']>[0]> = {}): CallFiles {
  const { keyId, owner } = uploader
  const { signal } = new AbortController()
  const call = { callId: v7(), keyId, ownerId: owner.userId, endUser: '', agent, signal }
  return keeper.ofCall({ ...call, ...more })
}

function rows() {
  return fixture.database.prisma.upload.findMany({ where: { ownerId: uploader.owner.userId } })
}

/** The stored files of all tests. */
function storedFiles(): string[] {
  const [token] = [newUpload(uploader).token]
  const folder = dirname(dirname(fixture.storage.pathOf({ token, name: 'a' })))
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

describe('a file that is kept', () => {
  test('is an upload of the owner that the agent has made, and is seen in the list of uploads', async () => {
    const callId = v7()
    const kept = await filesOf({ callId }).keep({
      url: urlOf('/%E5%9B%BE%20a.png?sign=secret'),
      type: 'image',
    })
    expect(lost).toEqual([])
    const [row] = await rows()
    expect(row).toMatchObject({
      callId,
      keyId: uploader.keyId,
      agent: 'dify',
      createdBy: 'agent:dify',
      filename: '图 a.png',
      mediaType: 'image/png',
      size: BigInt(PNG.length),
      deletedAt: null,
    })
    expect(Number(row?.expiresAt) - Number(row?.createdAt)).toBe(7 * 86_400_000)
    expect(kept).toEqual({
      url: `https://gateway.example/files/${row?.token}/${encodeURIComponent('图 a.png')}`,
      name: '图 a.png',
      mediaType: 'image/png',
      size: PNG.length,
    })
    const path = fixture.storage.pathOf({ token: row?.token ?? '', name: row?.urlName ?? '' })
    expect(readFileSync(path).equals(PNG)).toBe(true)
    expect(await fixture.bytesOf(uploader)).toBe(PNG.length)
    const { prisma, sql } = fixture.database
    const { storage, runtime, takeWrite } = fixture
    const uploads = createUploads({ prisma, sql, storage, runtime, takeWrite })
    expect(await uploads.list(uploader.owner, { take: 10 })).toEqual([row])
    expect(await prisma.call.count({ where: { ownerId: uploader.owner.userId } })).toBe(0)
  })

  test.each([
    [{ name: '../../etc/pass\u202ewd' }, 'passwd.png'],
    [{ name: 'Chart.PNG' }, 'Chart.PNG'],
    [{ name: 'chart.html' }, 'chart.html.png'],
    [{ name: '' }, 'file.png'],
    [{}, 'a.png'],
  ])('that is named %j has the name %s', async (named, name) => {
    expect(await filesOf().keep({ url: urlOf(), ...named })).toMatchObject({ name })
  })

  test.each(['/', '/%ff', '/a/b/?x'])('has a name also at the path %s', async (path) => {
    expect(await filesOf().keep({ url: urlOf(path) })).toMatchObject({ mediaType: 'image/png' })
  })

  test('may be given as bytes, without any request', async () => {
    const kept = await filesOf().keep({ bytes: PNG, name: 'chart', mediaType: 'image/png' })
    expect(kept).toMatchObject({ name: 'chart.png', size: PNG.length })
    const text = new TextEncoder().encode('a,b\n'.repeat(100_000))
    expect(await filesOf().keep({ bytes: text, name: 'a.csv' })).toMatchObject({
      mediaType: 'text/csv',
      size: text.length,
    })
    expect([server.connections, lost]).toEqual([0, []])
  })
})

/** What begins as a picture and has so many bytes, a multiple of a MiB. */
function* pictureOf(bytes: number): Generator<Buffer> {
  const chunk = Buffer.alloc(MIB)
  PNG.copy(chunk)
  for (let sent = 0; sent < bytes; sent += MIB) yield chunk
}

/** Keeps a file that cannot be kept, and returns what the log is told. Nothing of the file remains. */
async function lose(file: Parameters<CallFiles['keep']>[0], files = filesOf()): Promise<FileNotKept> {
  const before = storedFiles()
  expect(await files.keep(file)).toBeUndefined()
  await vi.waitFor(() => expect(storedFiles()).toEqual(before))
  expect([await rows(), await fixture.bytesOf(uploader)]).toEqual([[], 0])
  const [only, ...others] = lost
  expect(others).toEqual([])
  if (only === undefined) throw new Error('The log was told nothing.')
  return only
}

describe('a file that is not kept', () => {
  test('is told to the log without the path and the query of its URL, which may be secret', async () => {
    server.answer = (_request, response) => response.writeHead(403).end()
    const callId = v7()
    const told = await lose({ url: urlOf('/secret?sign=secret') }, filesOf({ callId }))
    expect(told).toMatchObject({
      callId,
      agentId: 'dify',
      reason: 'bad_response',
      detail: 'the answer has the status 403',
      origin: `http://cdn.example.com:${server.port}`,
    })
    expect(JSON.stringify(told)).not.toContain('secret')
  })

  test.each([
    ['a private address', 'http://10.0.0.1/secret', 'private_address'],
    ['no URL', 'secret', 'no_http_url'],
    ['credentials', 'http://user:secret@cdn.example.com/', 'no_http_url'],
    ['a name that nobody has', 'http://none.example.com/secret', 'unreachable'],
  ])('because of %s', async (_what, url, reason) => {
    const told = await lose({ url })
    expect(told).toMatchObject({ reason })
    expect([told.detail, told.origin].join()).not.toContain('secret')
  })

  test('because it has neither a URL nor a content', async () => {
    expect(await lose({ name: 'a.png' })).toMatchObject({ reason: 'no_http_url', origin: undefined })
  })

  test.each([
    ['a page in place of a picture', { type: 'image' }, 'text/html', '<html></html>', 'wrong_type'],
    [
      'a page that is served as a picture',
      { mediaType: 'image/png' },
      'image/png',
      '<html></html>',
      'wrong_type',
    ],
    [
      'a page in place of a document',
      { name: 'a.pdf' },
      'text/html; charset=utf-8',
      '<html></html>',
      'wrong_type',
    ],
    ['a picture in place of sound', { type: 'audio' }, 'audio/mpeg', PNG, 'wrong_type'],
    [
      'a type that is not accepted',
      {},
      'image/png',
      Buffer.from('MZ\x90\0\x03\0\0\0'),
      'file_type_not_accepted',
    ],
    [
      'text that ends as something else',
      {},
      'text/plain',
      Buffer.from(`${'a'.repeat(MIB)}\0`),
      'file_type_not_accepted',
    ],
    ['nothing', {}, 'image/png', '', 'empty'],
  ] as const)('because it is %s', async (_what, file, contentType, body, reason) => {
    server.answer = (_request, response) => response.writeHead(200, { 'content-type': contentType }).end(body)
    expect(await lose({ url: urlOf(), ...file })).toMatchObject({ reason })
  })

  test('unless the page is what was made', async () => {
    server.answer = (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>')
    expect(await filesOf().keep({ url: urlOf('/report'), name: 'report.html' })).toMatchObject({
      name: 'report.html.txt',
      mediaType: 'text/plain; charset=utf-8',
    })
  })

  test.each([true, false])('because it has 51 MiB (announced: %s)', async (isAnnounced) => {
    const size = 51 * MIB
    const closed = Promise.withResolvers<void>()
    server.answer = (_request, response) => {
      response.on('close', () => closed.resolve())
      response.writeHead(200, isAnnounced ? { 'content-length': size } : {})
      pipeline(pictureOf(size), response, () => undefined)
    }
    expect(await lose({ url: urlOf() })).toMatchObject({ reason: 'body_too_large' })
    await closed.promise
  })

  test('because its body has no end', async () => {
    const closed = Promise.withResolvers<void>()
    server.answer = (_request, response) => {
      response.on('close', () => closed.resolve())
      pipeline(pictureOf(Number.POSITIVE_INFINITY), response, () => undefined)
    }
    await keeper.close()
    keeper = keeperOf({ bounds: { ...BOUNDS, maxBytes: 5 * MIB } })
    expect(await lose({ url: urlOf() })).toMatchObject({ reason: 'body_too_large' })
    await closed.promise
  })

  test.each([
    ['of a server that says nothing', false, { stalledMs: 60_000, timeoutMs: 50 }],
    ['of a body that stops', true, { stalledMs: 50, timeoutMs: 60_000 }],
    ['of a body that comes too slowly', true, { stalledMs: 60_000, timeoutMs: 50 }],
  ])('because %s', async (_what, begins, times) => {
    const closed: Promise<unknown>[] = []
    server.answer = (_request, response) => {
      closed.push(once(response, 'close'))
      if (begins) response.write(PNG)
    }
    await keeper.close()
    keeper = keeperOf({ times })
    expect(await lose({ url: urlOf() })).toMatchObject({ reason: 'too_slow' })
    // On a busy machine the time may be over before the request is there, and then nothing is to be closed.
    await Promise.all(closed)
  })

  test('because a body is shorter than announced', async () => {
    server.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': PNG.length + 1 })
      response.write(PNG, () => response.destroy())
    }
    expect(await lose({ url: urlOf() })).toMatchObject({ reason: 'unreachable' })
  })

  test('because the owner has no space left, also for what no length announces', async () => {
    await keeper.close()
    keeper = keeperOf({ bounds: { ...BOUNDS, bytesPerOwnerMax: PNG.length - 1 } })
    server.answer = (_request, response) => {
      response.write(PNG.subarray(0, 10))
      response.end(PNG.subarray(10))
    }
    expect(await lose({ url: urlOf() })).toMatchObject({ reason: 'upload_space_used_up' })
  })

  test('because the disk has no space left, before anything is requested', async () => {
    await keeper.close()
    keeper = keeperOf({ space: { isLow: true } })
    expect(await lose({ url: urlOf() })).toMatchObject({ reason: 'unavailable' })
    expect(server.connections).toBe(0)
  })

  test('because the storage fails', async () => {
    const cause = new StorageError('The disk is broken.')
    vi.spyOn(fixture.storage, 'write').mockRejectedValue(cause)
    expect(await lose({ url: urlOf() })).toMatchObject({ reason: 'unavailable', cause })
  })

  test('because the database fails, and then the file is removed', async () => {
    const cause = new Error('no insert')
    await keeper.close()
    const { sql } = fixture.database
    const query = (text: string, values?: readonly unknown[]) =>
      text.includes('INSERT INTO uploads') ? Promise.reject(cause) : sql.query(text, values)
    keeper = keeperOf({ sql: { ...sql, query } as typeof sql })
    expect(await lose({ url: urlOf() })).toMatchObject({ reason: 'internal_error', cause })
  })
})

describe('bounds', () => {
  test('a call has 20 files, and another call has its own', async () => {
    const files = filesOf()
    const kept = await Promise.all(
      Array.from({ length: KEPT_FILES_MAX + 1 }, (_, index) => files.keep({ url: urlOf(`/${index}.png`) })),
    )
    expect(kept.filter((file) => file !== undefined)).toHaveLength(KEPT_FILES_MAX)
    expect([kept.at(-1), lost]).toMatchObject([undefined, [{ reason: 'too_many_files' }]])
    expect([await rows(), server.requests]).toMatchObject([{ length: 20 }, { length: 20 }])
    expect(await filesOf().keep({ url: urlOf() })).toBeDefined()
  })

  test('an owner has four requests at once, and another owner has its own beside them', async () => {
    const held: (() => void)[] = []
    const arrived = (count: number) => vi.waitFor(() => expect(held.length).toBe(count))
    server.answer = (request, response) => {
      if (request.url === '/other.png') response.end(PNG)
      else held.push(() => response.end(PNG))
    }
    const files = filesOf()
    const all = Promise.all(Array.from({ length: 10 }, () => files.keep({ url: urlOf() })))
    await arrived(4)
    uploader = await fixture.newUploader()
    expect(await filesOf().keep({ url: urlOf('/other.png') })).toBeDefined()
    // Had a fifth been requested, it would have come before the other owner's.
    expect(held.length).toBe(4)
    for (let done = 0; done < 10; done += 1) {
      await arrived(Math.min(10, done + 4))
      held[done]?.()
      await vi.waitFor(() => expect(server.requests.length).toBeGreaterThanOrEqual(Math.min(11, done + 6)))
    }
    expect((await all).every((file) => file !== undefined)).toBe(true)
  })

  test('the wait for a turn is part of the time that a file has', async () => {
    await keeper.close()
    keeper = keeperOf({ times: { stalledMs: 60_000, timeoutMs: 50 } })
    server.answer = () => undefined
    const files = filesOf()
    const kept = await Promise.all(Array.from({ length: 6 }, () => files.keep({ url: urlOf() })))
    expect(kept).toEqual(Array(6).fill(undefined))
    expect(lost).toHaveLength(6)
  })
})

describe('the end of the call', () => {
  test('ends the request, and nobody is told', async () => {
    const arrived = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    server.answer = (_request, response) => {
      response.on('close', () => closed.resolve())
      response.write(PNG)
      arrived.resolve()
    }
    const controller = new AbortController()
    const keeping = filesOf({ signal: controller.signal }).keep({ url: urlOf() })
    await arrived.promise
    controller.abort()
    expect(await keeping).toBeUndefined()
    await closed.promise
    expect([lost, await rows()]).toEqual([[], []])
    expect(await filesOf({ signal: controller.signal }).keep({ url: urlOf() })).toBeUndefined()
    expect(server.requests).toHaveLength(1)
  })

  test('frees the turns of files that wait', async () => {
    const arrived = Promise.withResolvers<void>()
    server.answer = () => {
      if (server.requests.length === 4) arrived.resolve()
    }
    const controller = new AbortController()
    const files = filesOf({ signal: controller.signal })
    const all = Promise.all(Array.from({ length: 8 }, () => files.keep({ url: urlOf() })))
    await arrived.promise
    controller.abort()
    expect(await all).toEqual(Array(8).fill(undefined))
    server.answer = (_request, response) => response.end(PNG)
    expect(await filesOf().keep({ url: urlOf() })).toBeDefined()
  })
})
