import { once } from 'node:events'
import { appendFileSync, mkdtempSync, openAsBlob, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Fetch, FileError, Trunkline, type UploadSource } from '../index.ts'

/** More than one piece of the file and of the connection. */
const TEXT = 'grüezi\n'.repeat(200_000)

let server: Server
let home: string
let path: string
/** The bodies that were received to their end. */
let stored: string[]

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const headers = { 'content-type': request.headers['content-type'] ?? '' }
    // Of a form that is cut there is no end.
    const body = await buffer(request).catch(() => undefined)
    if (body === undefined) return
    const file = (await new Response(body, { headers }).formData()).get('file')
    if (file instanceof File) stored.push(await file.text())
    response.setHeader('content-type', 'application/json').end('{"data":{}}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  home = mkdtempSync(join(tmpdir(), 'trunkline-files-'))
  path = join(home, 'notes.txt')
})
afterAll(() => {
  server?.close()
  server?.closeAllConnections()
  rmSync(home, { recursive: true, force: true })
})
beforeEach(() => {
  stored = []
  writeFileSync(path, TEXT)
})

/** Uploads by the fetch of Node, in which a body that fails at the wrong place ends the process. */
async function upload(source: UploadSource, beforeSending = () => {}, onProgress?: () => void) {
  const client = new Trunkline({
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'tl_any',
    async fetch(url, init) {
      beforeSending()
      return await fetch(url, init)
    },
  })
  return await client.uploads.create(source, { created_by: 'ada', onProgress }).then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe.each([
  ['without progress', undefined],
  ['with progress', () => {}],
])('a path, %s', (_, onProgress) => {
  test('is sent byte for byte', async () => {
    expect(await upload(path, undefined, onProgress)).toBeUndefined()
    expect(stored).toEqual([TEXT])
  })

  test.each([
    ['grows', 'FILE_CHANGED', () => appendFileSync(path, 'more')],
    ['shrinks', 'FILE_CHANGED', () => truncateSync(path, 100)],
    ['is emptied', 'FILE_CHANGED', () => truncateSync(path, 0)],
    ['is removed', 'ENOENT', () => rmSync(path)],
  ])('whose file %s while it is sent is an error that says so, and nothing is stored', async (...row) => {
    const [, code, change] = row
    const error = await upload(path, change, onProgress)
    expect(error).toBeInstanceOf(FileError)
    expect(error).toMatchObject({ name: 'FileError', code, message: expect.stringContaining(path) })
    expect(stored).toEqual([])
  })

  test.each([
    ['no file', 'ENOENT', () => join(home, 'none.txt')],
    ['a directory', 'EISDIR', () => home],
    ['a device', 'EISDIR', () => '/dev/null'],
  ])('of %s is an error that says so, before any request', async (_name, code, source) => {
    const error = await upload(source(), () => expect.unreachable('It was sent.'), onProgress)
    expect(error).toBeInstanceOf(FileError)
    expect(error).toMatchObject({ code, message: expect.stringContaining(source()) })
  })

  test('that is a Blob of a file that grows is an error as well', async () => {
    const error = await upload(await openAsBlob(path), () => appendFileSync(path, 'more'), onProgress)
    expect(error).toBeInstanceOf(FileError)
    expect(error).toMatchObject({ message: expect.stringContaining('could not be read') })
    expect(stored).toEqual([])
  })
})

test('a stream whose source fails tells why, by the code of its error', async () => {
  const failing = Readable.from(
    (async function* () {
      yield 'text'
      throw Object.assign(new Error('The disk is gone.'), { code: 'EIO' })
    })(),
  )
  expect(await upload(failing)).toMatchObject({ name: 'FileError', code: 'EIO' })
})

test('neither an upload nor a kept call needs randomUUID, which pages without TLS do not have', async () => {
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) })
  onTestFinished(() => void vi.unstubAllGlobals())
  expect(await upload(path)).toBeUndefined()
  expect(stored).toEqual([TEXT])
  const keys = new Set<unknown>()
  const fetch: Fetch = async (_url, { headers }) => {
    keys.add(headers['idempotency-key'])
    return Response.json({ id: 'talk', choices: [] })
  }
  const { chat } = new Trunkline({ baseURL: 'http://gateway.test', apiKey: 'tl_any', fetch })
  for (let calls = 0; calls < 2; calls += 1) await chat.create({ query: 'Hi', keep: true })
  expect([...keys]).toEqual([expect.stringMatching(/^[\w-]{10,}$/), expect.stringMatching(/^[\w-]{10,}$/)])
})
