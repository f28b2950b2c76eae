import { systemRuntime } from '@trunkline/gateway/src/core/base/runtime.ts'
import type { S3Limits } from '@trunkline/gateway/src/core/uploads/storage/s3-client.ts'
import { createS3Storage } from '@trunkline/gateway/src/core/uploads/storage/s3-storage.ts'
import {
  createScratchBucket,
  type ScratchBucket,
  s3TestServer,
} from '@trunkline/gateway/src/core/uploads/storage/scratch-bucket.test-support.ts'
import {
  FAR_FUTURE,
  MIB,
  never,
  newFile,
  randomContent,
  read,
  sha256,
} from '@trunkline/gateway/src/core/uploads/storage/storage.test-support.ts'
import { type FileStorage, StorageError } from '@trunkline/gateway/src/core/uploads/storage/storage.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

const server = s3TestServer()

/**
 * Limits that a stalled server exceeds soon and a busy one does not, because what leads up to the fault must succeed within
 * them. The other tests have the limits of the gateway.
 */
const SHORT: Partial<S3Limits> = { idleMs: 2_000, pingMs: 300, cleanUpMs: 500 }

describe.skipIf(server === undefined)('an S3 server that', () => {
  // Each test has its own bucket, so that what a failed one leaves behind fails neither its retry nor the next.
  let bucket: ScratchBucket
  let proxy: TcpProxy
  let storage: FileStorage

  async function openStorage(limits: Partial<S3Limits> = {}): Promise<void> {
    const { settings } = bucket
    storage = await createS3Storage({ ...settings, endpoint: proxy.url, runtime: systemRuntime, limits })
  }

  beforeEach(async () => {
    if (server === undefined) return
    bucket = await createScratchBucket(server)
    proxy = await startTcpProxy(server.endpoint)
    await openStorage()
  })
  afterEach(async ({ task }) => {
    try {
      await proxy.restore()
      // A test that failed halfway has not removed its file.
      if (task.result?.state !== 'fail') {
        // What a failed write cannot remove, because S3 cannot be reached, is left to the sweep.
        await until('nothing is left', async () => {
          await storage.removeUnfinished(FAR_FUTURE)
          return (await bucket.leftovers()).length === 0
        })
      }
    } finally {
      storage.close()
      await proxy.close()
      await bucket.drop()
    }
  })

  const host = () => new URL(proxy.url).host

  /** A file of 16 MiB, in the middle of which `fault` is called. */
  const chunks = randomContent(16 * MIB)
  async function* faultyBody(fault: () => void | Promise<void>) {
    const middle = chunks.length / 2
    yield* chunks.slice(0, middle)
    await fault()
    yield* chunks.slice(middle)
  }

  const writeWorks = async () => {
    const file = newFile()
    await storage.write(
      file,
      faultyBody(() => undefined),
      never,
    )
    expect(await read(storage, file)).toBe(sha256(chunks))
    await storage.remove([file])
  }

  test('goes away in the middle of an upload fails it, and serves the next when it is back', async () => {
    await expect(
      storage.write(
        newFile(),
        faultyBody(() => proxy.cut()),
        never,
      ),
    ).rejects.toThrow(`S3 at ${host()} cannot be reached (ECONNREFUSED).`)
    await expect(storage.ping()).rejects.toThrow(StorageError)
    await proxy.restore()
    await storage.ping()
    await writeWorks()
  })

  test('resets connections between two parts fails nothing', async () => {
    const file = newFile()
    const fault = async () => {
      await proxy.cut()
      await proxy.restore()
    }
    await storage.write(file, faultyBody(fault), never)
    expect(await read(storage, file)).toBe(sha256(chunks))
    await storage.remove([file])
  })

  test.each([
    ['of the creation of an upload', '?uploads'],
    ['of a part', 'partNumber=2'],
    ['of a completion', '<CompleteMultipartUpload'],
  ])('loses the answer %s leaves a complete file or none', async (_, matching) => {
    const file = newFile()
    const lost = proxy.loseNextAnswer(matching)
    const outcome = await storage
      .write(
        file,
        faultyBody(() => undefined),
        never,
      )
      .then(
        () => 'written',
        (error: unknown) => error,
      )
    await lost
    const leftovers = (await bucket.leftovers()).filter((key) => !key.startsWith('unfinished'))
    if (outcome === 'written') {
      expect(await read(storage, file)).toBe(sha256(chunks))
      await storage.remove([file])
    } else {
      expect(outcome).toBeInstanceOf(StorageError)
      expect(leftovers).toEqual([])
    }
  })

  test('stalls fails uploads and checks in time', async () => {
    await openStorage(SHORT)
    const written = storage.write(
      newFile(),
      faultyBody(() => proxy.stall()),
      never,
    )
    await expect(written).rejects.toThrow(`S3 at ${host()} does not answer in time.`)
    await expect(storage.ping()).rejects.toThrow(`S3 at ${host()} does not answer in time.`)
    await proxy.restore()
    await writeWorks()
  })

  test('stalls in the middle of a file fails the reader in time', async () => {
    await openStorage(SHORT)
    const file = newFile()
    await storage.write(
      file,
      faultyBody(() => undefined),
      never,
    )
    const stream = await storage.read(file)
    proxy.stall()
    await expect(stream.toArray()).rejects.toThrow(`S3 at ${host()} does not answer in time.`)
    await proxy.restore()
    await storage.remove([file])
  })

  test('stalls does not hold up an upload whose signal aborts', async () => {
    // Nothing but the signal can end the request before the test is over.
    await openStorage({ ...SHORT, idleMs: 120_000 })
    const abort = new AbortController()
    const reason = new Error('the time is up')
    const written = storage.write(
      newFile(),
      faultyBody(() => {
        proxy.stall()
        setImmediate(() => abort.abort(reason))
      }),
      abort.signal,
    )
    await expect(written).rejects.toBe(reason)
  })
})
