import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemRuntime } from '@trunkline/gateway/src/core/base/runtime.ts'
import { createS3Storage } from '@trunkline/gateway/src/core/uploads/storage/s3-storage.ts'
import { FAR_FUTURE } from '@trunkline/gateway/src/core/uploads/storage/storage.test-support.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Answer } from '../support/api.ts'
import { type GatewayWithUploads, startGatewayWithUploads } from '../support/gateway-with-uploads.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { CREATED_BY, END_OF_FORM, filePart, formUpToFile, openUpload } from '../support/upload-client.ts'

// A process, because the storage fails under a running upload, and a gateway that starts again must clean up.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const endpoint = process.env.E2E_S3_ENDPOINT
const STALLED_MS = 2_000
/** A number of bytes that are more than one part of a multipart upload to S3. */
const HALF_BYTES = 5_500_000
const MP4 = readFileSync(
  join(import.meta.dirname, '../../apps/gateway/src/core/uploads/content/fixtures/ffmpeg.mp4'),
)
const HALF = Buffer.concat([MP4, randomBytes(HALF_BYTES)])

/** Expects that the client is to try again, and that the ledger blames the storage. */
async function expectFault(system: GatewayWithUploads, { status, headers, body }: Answer): Promise<void> {
  expect([status, body]).toMatchObject([
    503,
    { reason: 'unavailable', detail: 'The file could not be stored.' },
  ])
  expect(headers.get('retry-after')).toBe('5')
  expect(await system.settledCall(headers.get('x-call-id') ?? '')).toMatchObject({
    kind: 'upload',
    outcome: 'upstream_error',
    reason: 'unavailable',
  })
}

async function expectWorks(system: GatewayWithUploads): Promise<void> {
  const { status, body } = await system.send([CREATED_BY, filePart('text')])
  expect([status, body.reason]).toEqual([200, undefined])
  await system.expectStored(body.data.url)
  const path = `/api/v1/uploads/${body.data.id}`
  expect((await system.api.call('DELETE', path, { token: system.token })).status).toBe(200)
}

describe.skipIf(!endpoint)('S3', () => {
  let system: GatewayWithUploads
  let proxy: TcpProxy

  beforeAll(async () => {
    proxy = await startTcpProxy(endpoint ?? '')
    system = await startGatewayWithUploads({
      uploads: { stalledMs: STALLED_MS },
      env: { S3_ENDPOINT: proxy.url },
    })
  })
  afterAll(async () => {
    await system?.gateway.remove()
    await proxy?.close()
  })

  /** Sends a file, in the middle of which `fault` is called. */
  async function sendThrough(fault: () => void | Promise<void>): Promise<Answer> {
    const { gateway, key } = system
    const upload = openUpload(gateway.url, key.full_key)
    await upload.write(formUpToFile('film.mp4'))
    await upload.write(HALF)
    await vi.waitFor(async () => expect(await gateway.storage.contents()).toHaveLength(1), {
      timeout: 20_000,
    })
    await fault()
    await upload.write(HALF)
    await upload.write(END_OF_FORM)
    upload.end()
    return await upload.answer
  }

  /** What cannot be removed while S3 cannot be reached is an upload that never became a file. The sweep removes it a day later. */
  async function removeUnfinished(): Promise<void> {
    const { bucket, contents } = system.gateway.storage
    if (bucket === undefined) throw new Error('the gateway has no bucket')
    for (const path of await contents()) expect(path).toMatch(/^unfinished /)
    const storage = await createS3Storage({ ...bucket.settings, runtime: systemRuntime })
    await storage.removeUnfinished(FAR_FUTURE)
    storage.close()
    expect(await contents()).toEqual([])
  }

  test('that goes away in the middle of a file fails the upload, and the next one works when it is back', async () => {
    await expectFault(system, await sendThrough(() => proxy.cut()))
    const refused = await system.send([CREATED_BY, filePart('text')])
    await expectFault(system, refused)
    const ready = await system.api.call('GET', '/readyz')
    expect(ready).toMatchObject({
      status: 200,
      body: { dependencies: { storage: { ok: false, optional: true } } },
    })
    await proxy.restore()
    await removeUnfinished()
    await expectWorks(system)
  })

  test('that stalls in the middle of a file fails the upload in time', async () => {
    const answer = await sendThrough(() => proxy.stall())
    await expectFault(system, answer)
    await proxy.restore()
    await vi.waitFor(removeUnfinished, { timeout: 20_000, interval: 200 })
    await expectWorks(system)
  })

  test('that resets connections between two parts fails nothing', async () => {
    const answer = await sendThrough(async () => {
      await proxy.cut()
      await proxy.restore()
    })
    expect(answer).toMatchObject({ status: 200, body: { data: { size: 2 * HALF.length } } })
    const { id, url } = answer.body.data
    await system.expectStored(url)
    await system.api.call('DELETE', `/api/v1/uploads/${id}`, { token: system.token })
  })

  test('that cannot be reached keeps an upload deleted for its owner, and the sweep completes the deletion', async () => {
    const { api, token, gateway } = system
    const { body } = await system.send([CREATED_BY, filePart('text')])
    const path = `/api/v1/uploads/${body.data.id}`
    await proxy.cut()
    expect(await api.call('DELETE', path, { token })).toMatchObject({
      status: 503,
      body: { reason: 'unavailable' },
    })
    expect((await api.call('GET', path, { token })).status).toBe(404)
    await proxy.restore()
    const { output } = await gateway.trunkline('uploads', 'sweep', '--json')
    expect(JSON.parse(output)).toMatchObject({ expired: 1, suspicious: 0 })
    await system.expectStored()
    expect((await api.call('DELETE', path, { token })).status).toBe(404)
  })
})

const isRoot = process.getuid?.() === 0

describe.skipIf(!isRoot)('a local disk', () => {
  let system: GatewayWithUploads
  let folder: string

  beforeAll(async () => {
    system = await startGatewayWithUploads({ isOnDisk: true, uploads: { stalledMs: STALLED_MS } })
    folder = join(system.gateway.dataDir, 'files')
    await system.gateway.stop()
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder])
    await system.gateway.start()
  })
  afterAll(async () => {
    await system?.gateway.kill()
    execFileSync('umount', [folder])
    await system?.gateway.remove()
  })

  test('that is full fails the upload, leaves nothing, and takes files that fit', async () => {
    await expectFault(system, await system.send([CREATED_BY, filePart(HALF, 'film.mp4')]))
    await system.expectStored()
    await system.gateway.prints(/the disk is full \(ENOSPC\)/)
    await expectWorks(system)
  })
})
