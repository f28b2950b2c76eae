import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { beforeEach, describe, expect, test } from 'vitest'
import { OpeningFailed } from '#core/agents/upstream/opening-failed.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { FileMissing, StorageError } from '#core/uploads/storage/storage.ts'
import {
  depsFor,
  FakeFiles,
  type RequestOptions,
  requestWith,
  sha256Of,
  startUploadServer,
  type UploadServer,
} from './attach-files.test-support.ts'
import { attachFiles } from './attach-files.ts'
import type { CallFile } from './messages.ts'

const MIB = 1024 * 1024
const CONTENT = Buffer.from('%PDF-1.7 report')
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg',
  'base64',
)
const EXTERNAL = 'https://files.example.com/photo.png'

let files: FakeFiles
let server: UploadServer

beforeEach(async () => {
  files = new FakeFiles()
  server = await startUploadServer()
})

const attach = (sent: readonly CallFile[], options?: RequestOptions) =>
  attachFiles(depsFor(files, server), requestWith(sent, files, server, options))

const filesOf = async (sent: readonly CallFile[], options?: RequestOptions) =>
  (await attach(sent, options)).agentCall.files

/** A stream that gives some bytes, and `more` after a turn of the event loop. */
function streamThat(more: (stream: PassThrough) => void): Readable {
  const stream = new PassThrough()
  stream.write(CONTENT.subarray(0, 5))
  setImmediate(() => more(stream))
  return stream
}

describe('a platform that takes uploads', () => {
  test('gets the files in their order, each by the id of its upload, and external ones by URL', async () => {
    const dataUrl = `data:application/octet-stream;base64,${PNG.toString('base64')}`
    const inline = { dataUrl, filename: 'C:\\photos\\..\\me.jpeg' }
    const sent = [EXTERNAL, files.add('report.pdf', CONTENT), inline]
    expect(await filesOf(sent)).toEqual([
      { name: 'photo.png', kind: 'image', url: EXTERNAL },
      { name: 'report.pdf', kind: 'document', platformFileId: 'file-1' },
      { name: 'me.jpeg.png', kind: 'image', platformFileId: 'file-2' },
    ])
    const authorization = 'Bearer key-of-agent'
    expect(server.received).toMatchObject([
      { filename: 'report.pdf', mediaType: 'application/pdf', sha256: sha256Of(CONTENT), authorization },
      { filename: 'me.jpeg.png', mediaType: 'image/png', sha256: sha256Of(PNG), authorization },
    ])
  })

  test('gets nothing if the caller may not use one of the files, and none is read', async () => {
    const sent = [files.add('mine.pdf', CONTENT), files.add('theirs.pdf', CONTENT, { ownerId: 'owner-2' })]
    await expect(attach(sent)).rejects.toMatchObject({ reason: 'upload_not_found', field: ['files', 1] })
    expect(files.log).toEqual(['find mine.pdf', 'find theirs.pdf'])
    expect(server.received).toEqual([])
  })

  test('gets a file once for an agent, a credential and an end user', async () => {
    const sent = [files.add('report.pdf', CONTENT)]
    const ids = []
    for (const options of [
      {},
      {},
      { endUser: 'another' },
      { apiKey: 'another' },
      { agentId: 'another' },
      { endUser: 'another' },
    ]) {
      const [file] = await filesOf([...sent, ...sent], options)
      ids.push(file)
    }
    expect(ids.map((file) => file && 'platformFileId' in file && file.platformFileId)).toEqual([
      ...['file-1', 'file-1', 'file-2', 'file-3', 'file-4', 'file-2'],
    ])
    expect(server.received).toHaveLength(4)
  })

  test('that refuses a file fails the call with its reason, the name of the file and a text without secrets', async () => {
    server.answer = (_request, response) => {
      const message = 'Too large for http://10.0.0.7:5001/files with key app-1234567890abcdef.\n'
      response.writeHead(413, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ code: 'file_too_large', message, status: 413 }))
    }
    const error = await attach([files.add('report.pdf', CONTENT)]).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpeningFailed)
    expect(error).toMatchObject({
      failure: {
        reason: 'agent_rejected_input',
        message: 'report.pdf: Too large for … with key ….',
        platformStatus: 413,
      },
    })
    expect(files.log).not.toContain('keep report.pdf')
  })

  test('is not reachable: the call fails, and the file is closed', async () => {
    const request = requestWith([files.add('report.pdf', CONTENT)], files, { baseUrl: 'http://127.0.0.1:9' })
    await expect(attachFiles(depsFor(files, server), request)).rejects.toMatchObject({
      reason: 'agent_unreachable',
    })
    expect(files.streams.map(({ destroyed }) => destroyed)).toEqual([true])
  })

  test.each([
    ['the storage fails', new StorageError('S3 is away.'), { reason: 'unavailable', retryAfterSeconds: 5 }],
    ['the file is gone', new FileMissing({ token: 't', name: 'report.pdf' }), { reason: 'upload_not_found' }],
  ])('is left without the rest of a file if %s while it is sent', async (_what, error, problem) => {
    const aborted = Promise.withResolvers<unknown>()
    const content = new PassThrough()
    content.write(CONTENT.subarray(0, 5))
    files.open = () => content
    server.answer = (request) => {
      request.once('error', aborted.resolve)
      request.once('data', () => content.destroy(error))
    }
    const failing = attach([files.add('report.pdf', CONTENT)])
    await expect(failing).rejects.toBeInstanceOf(Problem)
    await expect(failing).rejects.toMatchObject(problem)
    await aborted.promise
  })

  test('gets no content of a type that is not accepted, and the error names the field', async () => {
    const inline = {
      dataUrl: `data:text/plain;base64,${Buffer.from([0, 1, 2, 3]).toString('base64')}`,
      filename: 'a.txt',
    }
    const failing = attach([EXTERNAL, inline])
    await expect(failing).rejects.toMatchObject({ reason: 'file_type_not_accepted', field: ['files', 1] })
    expect(server.received).toEqual([])
  })
})

describe('a call that ends while a file is sent', () => {
  let call: AbortController
  const leave = () => call.abort()
  beforeEach(() => {
    call = new AbortController()
  })

  test.each([
    ['the platform does not read it', () => Readable.from(endless())],
    ['the storage stalls', () => streamThat(() => undefined)],
  ])('closes the connection and the file, even if %s', async (_what, open) => {
    const arrived = Promise.withResolvers<IncomingMessage>()
    server.answer = (request) => arrived.resolve(request)
    files.open = open
    const attaching = attach([files.add('report.pdf', CONTENT, { size: 1_000_000_000n })], {
      signal: call.signal,
    })
    const failed = expect(attaching).rejects.toThrow()
    const request = await arrived.promise
    leave()
    await failed
    const whole = new Promise((resolve, reject) =>
      request.once('end', resolve).once('error', reject).resume(),
    )
    await expect(whole).rejects.toThrow('aborted')
    expect(files.streams.map(({ destroyed }) => destroyed)).toEqual([true])
    expect(files.log).not.toContain('keep report.pdf')
  })

  test('closes the connection if the platform has the whole file but does not answer', async () => {
    const arrived = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    server.answer = (request, response) => {
      response.once('close', closed.resolve)
      request.resume().once('end', arrived.resolve)
    }
    const failed = expect(
      attach([files.add('report.pdf', CONTENT)], { signal: call.signal }),
    ).rejects.toThrow()
    await arrived.promise
    leave()
    await Promise.all([failed, closed.promise])
  })

  test('sends none of the files that follow', async () => {
    server.answer = () => leave()
    const sent = ['a.pdf', 'b.pdf'].map((name) => files.add(name, CONTENT))
    await expect(attach(sent, { signal: call.signal })).rejects.toThrow()
    expect(files.log).not.toContain('read b.pdf')
  })

  test('closes a file that is read to be sent within the request', async () => {
    files.open = () => streamThat(() => leave())
    const failing = attach([files.add('report.pdf', CONTENT)], { platform: 'openai', signal: call.signal })
    await expect(failing).rejects.toThrow()
    await Promise.all(files.streams.map((stream) => stream.closed || once(stream, 'close')))
  })

  async function* endless() {
    for (;;) yield Buffer.alloc(64 * 1024)
  }
})

describe('a platform that takes URLs', () => {
  const PUBLIC = 'https://gateway.example.com/files/'
  const DATA_URL = `data:application/pdf;base64,${CONTENT.toString('base64')}`

  test.each([
    ['fastgpt', PUBLIC, `${PUBLIC}report.pdf`],
    ['hiagent', PUBLIC, `${PUBLIC}report.pdf`],
    ['openai', PUBLIC, `${PUBLIC}report.pdf`],
    ['fastgpt', 'http://127.0.0.1:8080/files/', 'http://127.0.0.1:8080/files/report.pdf'],
    ['hiagent', 'http://127.0.0.1:8080/files/', 'http://127.0.0.1:8080/files/report.pdf'],
    ['openai', 'http://127.0.0.1:8080/files/', DATA_URL],
    ['openai', 'http://trunkline:8080/files/', DATA_URL],
    ['openai', 'https://trunkline.internal/files/', DATA_URL],
  ])('%s with files at %s gets %s', async (platform, base, url) => {
    files.publicBase = base
    const sent = [files.add('report.pdf', CONTENT)]
    expect(await filesOf(sent, { platform })).toEqual([{ name: 'report.pdf', kind: 'document', url }])
    expect(files.log.includes('read report.pdf')).toBe(url === DATA_URL)
  })

  test('gets at most 20 MiB within the request, and the error names the file that exceeds them', async () => {
    const sizes = { 'a.pdf': 12, 'b.pdf': 8, 'c.pdf': 1 }
    const [a = '', b = '', c = ''] = Object.entries(sizes).map(([name, mib]) =>
      files.add(name, CONTENT, { size: BigInt(mib * MIB) }),
    )
    await attach([a, b], { platform: 'openai' })
    files.log.length = 0
    await expect(attach([EXTERNAL, a, b, c], { platform: 'openai' })).rejects.toMatchObject({
      reason: 'invalid_request',
      field: ['files', 3],
      detail: expect.stringContaining(`files of at most ${20 * MIB} bytes in all`),
    })
    expect(files.log).not.toContain('read c.pdf')
  })

  test.each([
    ['the storage fails', new StorageError('S3 is away.'), 'unavailable'],
    ['the file is gone', new FileMissing({ token: 't', name: 'report.pdf' }), 'upload_not_found'],
  ])('fails the call if %s while it is read', async (_what, error, reason) => {
    files.open = () => streamThat((stream) => stream.destroy(error))
    const failing = attach([files.add('report.pdf', CONTENT)], { platform: 'openai' })
    await expect(failing).rejects.toMatchObject({ reason })
  })
})

describe('the memory for files within requests', () => {
  const options = { platform: 'openai' }

  test('is held until the call releases it, once', async () => {
    const deps = depsFor(files, server, 2 * CONTENT.length)
    const request = requestWith([files.add('report.pdf', CONTENT)], files, server, options)
    const [first] = [await attachFiles(deps, request), await attachFiles(deps, request)]
    await expect(attachFiles(deps, request)).rejects.toMatchObject({
      reason: 'unavailable',
      retryAfterSeconds: 1,
    })
    first.memory.release()
    first.memory.release()
    await attachFiles(deps, request)
    await expect(attachFiles(deps, request)).rejects.toMatchObject({ reason: 'unavailable' })
  })

  test('is released if the files cannot be attached', async () => {
    const deps = depsFor(files, server, CONTENT.length)
    const request = requestWith([files.add('report.pdf', CONTENT)], files, server, options)
    files.open = () => streamThat((stream) => stream.destroy(new StorageError('S3 is away.')))
    await expect(attachFiles(deps, request)).rejects.toMatchObject({
      detail: 'A file could not be read from the storage.',
    })
    files.open = undefined
    await attachFiles(deps, request)
  })
})

describe('files that the platform has forgotten', () => {
  const refusal = { reason: 'agent_rejected_input', message: 'Invalid upload file' } as const

  test('are sent anew, those of the call that the platform knew by an id from an earlier one', async () => {
    const [kept, fresh] = [files.add('kept.pdf', CONTENT), files.add('fresh.pdf', CONTENT)]
    await attach([kept])
    const { knownFiles } = await attach([kept, fresh])
    expect(knownFiles?.mayBeForgotten(refusal)).toBe(true)
    files.log.length = 0
    const ids = (await knownFiles?.bringAnew())?.files.map(
      (file) => 'platformFileId' in file && file.platformFileId,
    )
    expect(ids).toEqual(['file-3', 'file-2'])
    expect(files.log).toEqual([
      'forget kept.pdf',
      ...['find kept.pdf', 'find fresh.pdf'],
      'read kept.pdf',
      'keep kept.pdf',
    ])
  })

  test('are not sent anew after a failure of another kind, nor if the call sent them itself', async () => {
    const sent = [files.add('report.pdf', CONTENT)]
    expect((await attach(sent)).knownFiles).toBeUndefined()
    const { knownFiles } = await attach(sent)
    for (const failure of [
      { reason: 'agent_rejected_input', message: 'query is too long' },
      { reason: 'agent_error', message: 'Invalid upload file' },
    ] as const)
      expect(knownFiles?.mayBeForgotten(failure)).toBe(false)
    expect(server.received).toHaveLength(1)
  })
})

test('a picture that a long history repeats is looked up once', async () => {
  const looks: string[] = []
  const isIssued = files.isIssued
  files.isIssued = (url) => {
    looks.push(url)
    return isIssued(url)
  }
  const image = (url: string) => ({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] })
  const own = files.add('photo.png', PNG, { mediaType: 'image/png' })
  const messages = [image(own), image(EXTERNAL), image(own), image(EXTERNAL)]
  const { call, ...rest } = requestWith([], files, server, { platform: 'openai' })
  const asks = {
    kind: 'messages',
    messages,
    parameters: {},
    sentFields: [],
    hasOwnFiles: true,
    keepsTurn: false,
  } as const
  await attachFiles(depsFor(files, server), { ...rest, call: { ...call, asks } })
  expect(looks).toEqual([own, EXTERNAL])
  expect(files.log).toEqual(['find photo.png', 'read photo.png'])
})
