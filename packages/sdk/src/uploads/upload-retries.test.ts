import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  AbortError,
  ConnectionError,
  ServiceUnavailableError,
  Trunkline,
  type UploadSource,
} from '../index.ts'
import { settle } from '../transport/open-body.test-support.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

type Answer = (request: Request) => Promise<Response>

const stored: Answer = async (request) => {
  const file = (await request.formData()).get('file')
  return Response.json({ code: 0, data: { text: file instanceof File ? await file.text() : null } })
}
/** Refuses after having read everything. */
const busy =
  (headers: Record<string, string>): Answer =>
  async (request) => {
    await request.arrayBuffer()
    return new Response('', { status: 503, headers })
  }
const ADVISED = { 'x-should-retry': 'true' }
const unreachable: Answer = async () => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) })
}
const brokenInBody: Answer = async (request) => {
  await request.arrayBuffer()
  return await unreachable(request)
}

/** Uploads to a gateway that gives these answers one after the other, and lets the waits between them pass. */
async function upload(source: UploadSource, answers: Answer[], options: object = {}) {
  let requests = 0
  const client = new Trunkline({
    baseURL: 'http://gateway.test',
    accessToken: 'token',
    ...options,
    fetch: async (input, init) => {
      const answer = answers[requests]
      requests += 1
      return await (answer ?? expect.unreachable('There is no further answer.'))(new Request(input, init))
    },
  })
  let isOver = false
  const ended = client.uploads
    .create(source, { created_by: 'ada' })
    .then(
      (value) => ({ value, error: undefined }),
      (error: unknown) => ({ value: undefined, error }),
    )
    .finally(() => {
      isOver = true
    })
  // A Blob is read in other threads, for as long as these need before the next wait begins.
  while (!isOver) {
    await settle()
    await vi.advanceTimersByTimeAsync(500)
  }
  return { ...(await ended), requests }
}

function webStream() {
  const cancelled = vi.fn()
  const pulled = vi.fn()
  const source = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled()
        controller.enqueue(new TextEncoder().encode('bytes'))
        controller.close()
      },
      cancel: cancelled,
    },
    { highWaterMark: 0 },
  )
  return { source, cancelled, pulled }
}

describe.each([
  ['a Blob', () => new Blob(['bytes'])],
  ['a Buffer', () => Buffer.from('bytes')],
])('%s', (_name, source) => {
  test('is sent again, whole, where the gateway advises it or was not reached', async () => {
    const { value, requests } = await upload(source(), [busy(ADVISED), unreachable, stored])
    expect(value).toEqual({ text: 'bytes' })
    expect(requests).toBe(3)
  })

  test('is not sent again where it may have been stored', async () => {
    const { error, requests } = await upload(source(), [busy({})])
    expect(error).toBeInstanceOf(ServiceUnavailableError)
    expect(requests).toBe(1)
  })
})

describe('a stream', () => {
  test('is sent later where the gateway was not reached, because nothing was read from it', async () => {
    const { source } = webStream()
    const { value, requests } = await upload(source, [unreachable, unreachable, stored])
    expect(value).toEqual({ text: 'bytes' })
    expect(requests).toBe(3)
  })

  test('is not sent again once it was read from, whatever the gateway advises', async () => {
    for (const answer of [busy(ADVISED), brokenInBody]) {
      const { error, requests } = await upload(webStream().source, [answer])
      expect(error).not.toBeUndefined()
      expect(requests).toBe(1)
    }
  })

  test('is not sent again with a renewed token once it was read from', async () => {
    const refused: Answer = async (request) => {
      await request.arrayBuffer()
      return Response.json({ reason: 'token_expired' }, { status: 401 })
    }
    const options = { getAccessToken: () => 'next' }
    expect((await upload(webStream().source, [refused], options)).requests).toBe(1)
    expect((await upload(new Blob(['bytes']), [refused, stored], options)).value).toEqual({ text: 'bytes' })
  })

  test('that was never read is closed when the upload fails', async () => {
    const web = webStream()
    expect((await upload(web.source, [unreachable], { maxRetries: 0 })).error).toBeInstanceOf(ConnectionError)
    expect(web.cancelled).toHaveBeenCalledOnce()
    expect(web.pulled).not.toHaveBeenCalled()

    const node = Readable.from(['bytes'])
    await upload(node, [unreachable], { maxRetries: 0 })
    expect(node.destroyed).toBe(true)

    const aborted = webStream()
    const client = new Trunkline({ baseURL: 'http://gateway.test', apiKey: 'tl_any' })
    const call = client.uploads.create(aborted.source, { created_by: 'a' }, { signal: AbortSignal.abort() })
    await expect(call).rejects.toThrow(AbortError)
    expect(aborted.cancelled).toHaveBeenCalledOnce()
  })

  test('is not touched by the fetch of Node where no connection is made', async () => {
    vi.useRealTimers()
    const { source, pulled, cancelled } = webStream()
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    await once(server.close(), 'close')
    const client = new Trunkline({ baseURL: `http://127.0.0.1:${port}`, apiKey: 'tl_any', maxRetries: 0 })
    const call = client.uploads.create(source, { created_by: 'ada' })
    await expect(call).rejects.toMatchObject({ constructor: ConnectionError, wasConnected: false })
    expect(pulled).not.toHaveBeenCalled()
    expect(cancelled).toHaveBeenCalledOnce()
  })
})
