import { createReadStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import {
  AbortError,
  NotFoundError,
  PayloadTooLargeError,
  PermissionDeniedError,
  Trunkline,
  TrunklineError,
  UnsupportedMediaTypeError,
  type UploadProgress,
  type UploadSource,
} from '@trunkline/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithUploads, startGatewayWithUploads } from '../support/gateway-with-uploads.ts'

// A process, because a refused upload closes the connection while a source is still being read.

const BYTES_MAX = 300_000
const TEXT = 'grüezi, a text to keep\n'.repeat(5000)
const BYTES = new TextEncoder().encode(TEXT)

let scene: GatewayWithUploads
let client: Trunkline
let home: string
let path: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trunkline-sdk-'))
  path = join(home, 'notes 1.txt')
  await writeFile(path, BYTES)
  scene = await startGatewayWithUploads({ uploads: { maxBytes: BYTES_MAX } })
  client = clientOf(scene.key.full_key)
})

afterAll(async () => {
  await scene?.gateway.remove()
  await rm(home, { recursive: true, force: true })
})

const clientOf = (apiKey: string) =>
  new Trunkline({ baseURL: scene.gateway.url, apiKey, accessToken: scene.token })
const webStream = () => new Blob([BYTES]).stream()
const kept = async (url: string) => await (await fetch(url)).text()

describe.each<[string, () => UploadSource, string]>([
  ['a File', () => new File([BYTES], 'notes.txt', { type: 'text/plain' }), 'notes.txt'],
  ['a Blob', () => new Blob([BYTES]), 'named.txt'],
  ['a Buffer', () => Buffer.from(TEXT), 'named.txt'],
  ['an ArrayBuffer', () => Uint8Array.from(BYTES).buffer, 'named.txt'],
  ['a web stream', webStream, 'named.txt'],
  ['a stream of Node', () => createReadStream(path, { highWaterMark: 1000 }), 'named.txt'],
  ['a path', () => path, 'notes 1.txt'],
])('%s', (_name, source, filename) => {
  test('is stored byte for byte, with and without progress', async () => {
    const params = { created_by: 'sdk', ...(filename === 'named.txt' && { filename }) }
    const upload = await client.uploads.create(source(), params)
    expect(upload).toMatchObject({ filename, size: BYTES.byteLength, created_by: 'sdk' })
    expect(await kept(upload.url)).toBe(TEXT)

    const steps: UploadProgress[] = []
    const again = await client.uploads.create(source(), { ...params, onProgress: (step) => steps.push(step) })
    expect(again).toMatchObject({ filename, sha256: upload.sha256 })
    expect(steps[0]?.loaded).toBe(0)
    expect(steps.at(-1)?.loaded).toBe(BYTES.byteLength)
  })
})

test('uploads are listed over all pages, read and deleted', async () => {
  const { data, response } = await client.uploads
    .create(new Blob(['x']), { created_by: 'life', filename: 'x.txt' })
    .withResponse()
  expect(response.headers.get('x-call-id')).toEqual(expect.any(String))
  const ids: string[] = []
  for await (const { id } of client.uploads.list({ limit: 2 })) ids.push(id)
  expect(ids).toContain(data.id)
  expect(await client.uploads.get(data.id)).toMatchObject({ created_by: 'life' })
  expect(await client.uploads.delete(data.id)).toEqual({ id: data.id })
  await expect(client.uploads.get(data.id)).rejects.toBeInstanceOf(NotFoundError)
  await expect(client.uploads.delete(data.id)).rejects.toMatchObject({ reason: 'upload_not_found' })
})

describe('an upload is refused for', () => {
  test('a type that is not accepted', async () => {
    const program = new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    await expect(client.uploads.create(program, { created_by: 'sdk' })).rejects.toBeInstanceOf(
      UnsupportedMediaTypeError,
    )
  })

  test('a file that is too large, sent whole', async () => {
    const large = Buffer.alloc(BYTES_MAX + 1, 'a')
    await expect(client.uploads.create(large, { created_by: 'sdk' })).rejects.toBeInstanceOf(
      PayloadTooLargeError,
    )
  })

  test('a key without the permission', async () => {
    const { full_key } = await scene.api.createKey(scene.token, { permissions: ['chat'] })
    const upload = clientOf(full_key).uploads.create(new Blob(['x']), { created_by: 'sdk' })
    await expect(upload).rejects.toBeInstanceOf(PermissionDeniedError)
  })

  test('a path without a file, before any request', async () => {
    const upload = client.uploads.create(join(home, 'none.txt'), { created_by: 'sdk' })
    await expect(upload).rejects.toBeInstanceOf(TrunklineError)
    await expect(upload).rejects.toThrow('none.txt')
    await expect(upload).rejects.not.toHaveProperty('status')
  })
})

test('a stream is closed where the gateway refuses it, also with most of it unread', async () => {
  const source = createReadStream(path)
  await expect(clientOf('tl_nobody').uploads.create(source, { created_by: 'sdk' })).rejects.toThrow()
  await expect.poll(() => source.destroyed).toBe(true)
  const endless = Readable.from(
    (function* () {
      for (;;) yield new Uint8Array(10_000)
    })(),
  )
  const large = client.uploads.create(endless, { created_by: 'sdk', filename: 'a.txt' })
  await expect(large).rejects.toThrow()
  await expect.poll(() => endless.destroyed).toBe(true)
})

test('a stream that fails before it is read rejects the upload', async () => {
  const source = createReadStream(join(home, 'none.txt'))
  await expect(client.uploads.create(source, { created_by: 'sdk' })).rejects.toThrow()
})

test('the name of a stream of a file is that of the file', async () => {
  const { filename } = await client.uploads.create(createReadStream(path), { created_by: 'ada' })
  expect(filename).toBe(basename(path))
})

test.each([
  ['undefined', undefined],
  ['a number', 5],
  ['an object', {}],
])('%s is no file, and says so', async (_, source) => {
  const sent = client.uploads.create(source as never, { created_by: 'ada' })
  await expect(sent).rejects.toThrow('The file must be a File, Blob, bytes, stream or path.')
})

test('a stream of texts is stored as UTF-8', async () => {
  const upload = await client.uploads.create(Readable.from(['grüezi, ', 'Welt']), {
    created_by: 'sdk',
    filename: 'words.txt',
  })
  expect(await kept(upload.url)).toBe('grüezi, Welt')
})

test('an upload that is aborted reads no further and closes its source', async () => {
  const controller = new AbortController()
  let isClosed = false
  let pieces = 0
  async function* long() {
    try {
      for (; pieces < 250; pieces++) {
        if (pieces === 3) controller.abort()
        yield BYTES.subarray(0, 1000)
      }
    } finally {
      isClosed = true
    }
  }
  const upload = client.uploads.create(long(), { created_by: 'sdk' }, { signal: controller.signal })
  await expect(upload).rejects.toBeInstanceOf(AbortError)
  await expect.poll(() => isClosed).toBe(true)
  expect(pieces).toBeLessThan(10)
})
