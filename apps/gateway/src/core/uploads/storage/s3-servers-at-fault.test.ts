import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import type { S3Limits } from './s3-client.ts'
import { createS3Storage } from './s3-storage.ts'
import { bodyOf, MIB, never, newFile, randomContent } from './storage.test-support.ts'
import { type FileStorage, StorageError } from './storage.ts'

/** A storage at a server that is none of S3's, or that does not do its work. */
async function storageAt(answer: RequestListener, limits: Partial<S3Limits> = {}): Promise<FileStorage> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  const place = { bucket: 'files', endpoint: `http://127.0.0.1:${port}`, region: 'eu-west-1' }
  const storage = await createS3Storage({ ...place, credentials, runtime: systemRuntime, limits })
  onTestFinished(() => {
    storage.close()
    server.closeAllConnections()
    server.close()
  })
  return storage
}

describe('a server that answers 200 and stores nothing', () => {
  const CREATED =
    '<InitiateMultipartUploadResult><UploadId>upload-1</UploadId></InitiateMultipartUploadResult>'
  const COMPLETED = '<CompleteMultipartUploadResult><ETag>"a"</ETag></CompleteMultipartUploadResult>'

  /** Answers as S3 does, but for the requests that match, whose answers say nothing. */
  function almostS3(empty: RegExp, seen: string[]): RequestListener {
    return (request: IncomingMessage, response: ServerResponse) => {
      const name = `${request.method} ${new URL(request.url ?? '', 'http://s3').search}`
      seen.push(name)
      request.resume().on('end', () => {
        // The client itself refuses an answer to a POST that is quite empty.
        if (empty.test(name)) response.end(name.startsWith('POST') ? '<Done></Done>' : undefined)
        else if (name.startsWith('PUT')) response.setHeader('etag', '"a"').end()
        else if (/^POST \?uploads/.test(name)) response.end(CREATED)
        else if (name.startsWith('POST')) response.end(COMPLETED)
        else response.writeHead(204).end()
      })
    }
  }

  test.each([
    ['the file', 1_000, /^PUT/, 'ETag'],
    ['the beginning of an upload in parts', 6 * MIB, /^POST \?uploads/, 'UploadId'],
    ['a part', 6 * MIB, /^PUT .*partNumber=1/, 'ETag'],
    ['the last part', 6 * MIB, /^PUT .*partNumber=2/, 'ETag'],
    ['the end of an upload in parts', 6 * MIB, /^POST .*uploadId=/, 'ETag'],
  ])('to %s fails the upload, and what may be there is removed', async (_what, bytes, empty, missing) => {
    const seen: string[] = []
    const storage = await storageAt(almostS3(empty, seen))
    const written = storage.write(newFile(), bodyOf(randomContent(bytes)), never)
    await expect(written).rejects.toThrow(StorageError)
    await expect(written).rejects.toThrow(
      /^S3_ENDPOINT: 127\.0\.0\.1:\d+ answers 200 without an (ETag|UploadId), so it has not stored the file/,
    )
    await expect(written).rejects.toThrow(` ${missing},`)
    expect(seen.at(-1)).toMatch(/^DELETE/)
  })

  test('to none of them stores it', async () => {
    const storage = await storageAt(almostS3(/^nothing/, []))
    await storage.write(newFile(), bodyOf(randomContent(6 * MIB)), never)
    await storage.write(newFile(), bodyOf(randomContent(1_000)), never)
  })
})

describe('a server that takes requests and says nothing', () => {
  // Nothing but this deadline can end a request before the test is over.
  const ONE_DEADLINE = { idleMs: 120_000, stalledMs: 50 }

  test('fails a removal and a read within one deadline, with all repetitions', async () => {
    const storage = await storageAt(() => undefined, ONE_DEADLINE)
    for (const work of [storage.remove([newFile()]), storage.read(newFile())])
      await expect(work).rejects.toThrow(/^S3 at 127\.0\.0\.1:\d+ does not answer in time\.$/)
  })

  test('fails repetitions within the same deadline', async () => {
    let requests = 0
    const storage = await storageAt(
      (request) => {
        requests += 1
        // The client repeats a request whose connection breaks.
        if (requests === 1) request.socket.destroy()
      },
      { ...ONE_DEADLINE, stalledMs: 1_000 },
    )
    await expect(storage.remove([newFile()])).rejects.toThrow('does not answer in time.')
    expect(requests).toBe(2)
  })

  test('fails a removal as soon as the time of its caller is over', async () => {
    const storage = await storageAt(() => undefined, { idleMs: 120_000, stalledMs: 120_000 })
    const abort = new AbortController()
    const removal = storage.remove([newFile()], abort.signal)
    abort.abort()
    await expect(removal).rejects.toThrow('does not answer in time.')
  })
})
