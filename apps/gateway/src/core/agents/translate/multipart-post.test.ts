import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { FileToUpload, UpstreamRequest } from '#core/agents/adapter.ts'
import { fileToUpload } from '#core/agents/file-to-upload.test-support.ts'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { createUpstream } from '#core/agents/upstream/upstream.ts'
import { multipartPost } from './multipart-post.ts'

const MIB = 1024 * 1024
const away = new Error('the storage is away')

function streamOf({ body }: UpstreamRequest): Readable {
  if (!(body instanceof Readable)) throw new Error('the body is no stream')
  return body
}

function formOf(file: FileToUpload, fields?: Readonly<Record<string, string>>) {
  return streamOf(multipartPost('http://x.example', {}, file, fields))
}

/** Parses a form as servers do that follow the standard. */
async function parsed(body: Buffer<ArrayBuffer>, contentType: string) {
  const form = await new Response(body, { headers: { 'content-type': contentType } }).formData()
  const file = form.get('file')
  if (!(file instanceof File)) throw new Error('the form has no file')
  return { form, file, content: Buffer.from(await file.arrayBuffer()) }
}

test('every name and content arrives, and the length in the headers is exact', async () => {
  const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 })
  const special = fc.string({
    unit: fc.constantFrom('"', '\r', '\n', '%', '2', '\\', ';', '=', '名', '.', '-'),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(name, special),
      fc.uint8Array({ maxLength: 500 }),
      fc.integer({ min: 1, max: 500 }),
      async (name, content, pieceBytes) => {
        const file = fileToUpload(content, { name, mediaType: 'application/pdf', pieceBytes })
        const request = multipartPost('http://x.example', {}, file, { user: 'u1', 'a"b': 'v' })
        const body = Buffer.from(await buffer(streamOf(request)))
        expect(request.headers['content-length']).toBe(String(body.length))
        const read = await parsed(body, request.headers['content-type'] ?? '')
        expect([...read.form.keys()]).toEqual(['user', 'a"b', 'file'])
        expect(read.form.get('user')).toBe('u1')
        expect(read.content.equals(content)).toBe(true)
        expect(read.file.type).toBe('application/pdf')
        expect(read.file.name).toBe(unescaped(file.name))
      },
    ),
    { numRuns: process.env.SOAK ? 10_000 : 100 },
  )
})

/** A name that already contains an escape cannot be distinguished from one that was escaped: that is a gap of the standard. */
function unescaped(name: string): string {
  return name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')
}

test("a name that ends the form with the file's own boundary stays a name", async () => {
  const { sha256 } = fileToUpload('abc')
  const file = fileToUpload('abc', { name: `a"\r\n\r\nevil\r\n--tl-${sha256}--\r\n.txt` })
  const request = multipartPost('http://x.example', {}, file)
  const read = await parsed(await buffer(streamOf(request)), request.headers['content-type'] ?? '')
  expect([...read.form.keys()]).toEqual(['file'])
  expect(read.content.toString()).toBe('abc')
})

test('nothing is read before the form is, and then no faster', async () => {
  let bytes = 0
  const source = new Readable({
    read() {
      bytes += 64 * 1024
      this.push(bytes <= 64 * MIB ? Buffer.alloc(64 * 1024) : null)
    },
  })
  const form = formOf(fileToUpload('', { size: 64 * MIB, body: source }))
  expect(source.readableFlowing).toBe(false)
  expect(bytes).toBe(0)
  form.read()
  await once(source, 'pause')
  expect(bytes).toBeLessThan(MIB)
  form.resume()
  await once(form, 'end')
  expect(bytes).toBeGreaterThan(64 * MIB)
})

describe('the form and the file end together:', () => {
  test('the form fails with the error of the file', async () => {
    const source = new Readable({ read: () => undefined })
    const form = formOf(fileToUpload('', { size: 10, body: source }))
    form.resume()
    source.push('12345')
    source.destroy(away)
    await expect(once(form, 'end')).rejects.toBe(away)
  })

  test('the form fails if the file was closed before its end, even before the form was made', async () => {
    const source = new Readable({ read: () => undefined }).destroy()
    await once(source, 'close')
    await expect(buffer(formOf(fileToUpload('', { size: 10, body: source })))).rejects.toMatchObject({
      code: 'ERR_STREAM_PREMATURE_CLOSE',
    })
  })

  test.each([
    ['with', away],
    ['without', undefined],
  ])('destroying the form %s an error destroys an unread file', async (_with, error) => {
    const source = new Readable({ read: () => undefined })
    const closed = Promise.withResolvers<void>()
    const form = formOf(fileToUpload('', { size: 10, body: source }))
    form.on('error', () => undefined).on('close', closed.resolve)
    form.destroy(error)
    await closed.promise
    expect(source.destroyed).toBe(true)
    expect(source.errored).toBe(error ?? null)
  })

  test.each([2, 4])('a file of 3 bytes that should have %i fails', async (size) => {
    const { body } = fileToUpload('abc')
    await expect(buffer(formOf(fileToUpload('', { size, body })))).rejects.toThrow(`its ${size} bytes`)
    expect(body.destroyed).toBe(true)
  })
})

describe('through the upstream:', () => {
  async function exchange(file: FileToUpload, answer: (request: IncomingMessage) => Promise<object>) {
    const server = createServer(async (request, response) => {
      response.end(JSON.stringify(await answer(request).catch(() => ({}))))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const upstream = createUpstream({ replyBytesMax: MIB, unsentBytesMax: MIB })
    onTestFinished(async () => {
      await upstream.close()
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const request = multipartPost(`http://127.0.0.1:${port}/files`, { authorization: 'Bearer k' }, file, {
      user: 'u1',
    })
    const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000, totalMs: 5_000 }
    return upstream.help(
      agentOf('dify', { timeouts }),
      { request, read: (_status, body) => ({ ok: body }) },
      5_000,
    )
  }

  test('a large file arrives whole at a server', async () => {
    const content = Buffer.alloc(3 * MIB, 'line\r\n--tl-\r\n')
    const result = await exchange(fileToUpload(content, { name: '报告.txt' }), async (request) => {
      const { headers } = request
      const body = await buffer(request)
      const read = await parsed(Buffer.from(body), headers['content-type'] ?? '')
      return [
        headers['content-length'] === String(body.length),
        headers['transfer-encoding'] ?? 'no encoding',
        read.form.get('user'),
        read.file.name,
        read.content.equals(content),
      ]
    })
    expect(result).toEqual({ ok: [true, 'no encoding', 'u1', '报告.txt', true] })
  })

  test('an error of the storage half-way is what the caller sees', async () => {
    const body = Readable.from(
      (async function* () {
        yield Buffer.alloc(MIB)
        throw away
      })(),
      { objectMode: false },
    )
    const file = fileToUpload('', { size: 2 * MIB, body })
    await expect(exchange(file, async (request) => [(await buffer(request)).length])).rejects.toBe(away)
  })
})
