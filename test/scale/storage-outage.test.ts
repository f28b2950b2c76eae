import {
  createScratchBucket,
  type ScratchBucket,
  s3TestServer,
} from '@trunkline/gateway/src/core/uploads/storage/scratch-bucket.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { configOf, sendChat } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { inBucket, sendFile, type UploadRecord, uploadFile } from '../support/uploads.ts'

// A process, because probes, uploads and sweeps of one process must go on while S3 does not.

/** How long the storage may accept nothing before an upload fails. */
const STALLED_MS = 2_000

const server = s3TestServer()

describe.skipIf(server === undefined)('while S3', () => {
  let bucket: ScratchBucket
  /** The gateway reaches S3 only through it. */
  let proxy: TcpProxy
  let platform: Platform
  let gateway: TestGateway
  let api: Api
  let token: string
  let chatKey: string
  let uploadKey: string
  let kept: UploadRecord

  beforeAll(async () => {
    if (server === undefined) return
    bucket = await createScratchBucket(server)
    proxy = await startTcpProxy(server.endpoint)
    platform = await startPlatform()
    await proxy.cut()
    gateway = await startGateway({
      config: configOf(platform, { uploads: { stalledMs: STALLED_MS } }),
      env: { ...inBucket(bucket), S3_ENDPOINT: proxy.url },
    })
    api = apiOf(gateway)
    token = await api.login()
    chatKey = (await api.createKey(token)).full_key
    uploadKey = (await api.createKey(token, { permissions: ['upload'] })).full_key
  })
  afterAll(async () => {
    await gateway?.remove()
    await proxy?.close()
    await platform?.close()
    await bucket?.drop()
  })

  const storageState = async () => {
    const { status, body } = await api.call('GET', '/readyz')
    // Chats need no storage, so its state never makes the process unready.
    expect([status, body.status]).toEqual([200, 'ready'])
    return body.dependencies.storage
  }
  const DOWN = { ok: false, optional: true, detail: 'does not answer; uploads are refused' }
  const UP = { ok: true, optional: true }
  const reaches = (state: object) =>
    until(
      'the storage is in this state',
      async () => JSON.stringify(await storageState()) === JSON.stringify(state),
    )

  /** Sends a file that cannot be stored. */
  async function expectRefusal(): Promise<void> {
    const response = await sendFile(gateway.url, uploadKey, 'zebra', 'zebra.txt')
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await response.json()).toMatchObject({
      reason: 'unavailable',
      detail: 'The file could not be stored.',
    })
  }
  const expectStored = async ({ url }: UploadRecord, content: string) =>
    expect(await (await fetch(url)).text()).toBe(content)

  test('is down at the start, the gateway starts and chats, and uploads are refused', async () => {
    expect(await storageState()).toEqual(DOWN)
    expect((await sendChat(gateway.url, chatKey)).status).toBe(200)
    await expectRefusal()
    const { body } = await api.call('GET', '/api/v1/uploads', { token })
    expect(body.data.items).toEqual([])
    const sweep = await gateway.trunkline('uploads', 'sweep')
    expect(sweep).toEqual({
      code: 1,
      output: `S3 at ${new URL(proxy.url).host} cannot be reached (ECONNREFUSED).\n`,
    })
  })

  test('is back, it is used without a restart', async () => {
    await proxy.restore()
    await reaches(UP)
    kept = await uploadFile(gateway.url, uploadKey, 'giraffe', 'giraffe.txt')
    await expectStored(kept, 'giraffe')
  })

  test('goes away again, records can be read, and a deletion is completed later', async () => {
    const deleted = await uploadFile(gateway.url, uploadKey, 'okapi', 'okapi.txt')
    await proxy.cut()
    await reaches(DOWN)
    const record = await api.call('GET', `/api/v1/uploads/${kept.id}`, { token })
    expect(record.body.data).toMatchObject({ id: kept.id, filename: 'giraffe.txt' })
    const path = `/api/v1/uploads/${deleted.id}`
    expect(await api.call('DELETE', path, { token })).toMatchObject({
      status: 503,
      body: { reason: 'unavailable' },
    })
    expect((await api.call('GET', path, { token })).status).toBe(404)
    expect((await sendChat(gateway.url, chatKey)).status).toBe(200)

    await proxy.restore()
    await reaches(UP)
    expect(JSON.parse((await gateway.trunkline('uploads', 'sweep', '--json')).output)).toMatchObject({
      expired: 1,
    })
    expect((await fetch(deleted.url)).status).toBe(404)
    await expectStored(kept, 'giraffe')
  })

  test('stalls, neither a probe nor an upload waits until it goes on', async () => {
    proxy.stall()
    await reaches(DOWN)
    await expectRefusal()
    await proxy.restore()
    await reaches(UP)
    await expectStored(await uploadFile(gateway.url, uploadKey, 'again'), 'again')
  })

  test('fails, the log says so for each upload, without names, tokens, keys or URLs of files', async () => {
    // A refusal is sent before its upload has been cleared up, which is when the line is written.
    const logged = await until('the log has a line for each failed upload', () => {
      const lines = gateway.output.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
      const found = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'upload failed')
      return found.length >= 2 && found
    })
    expect(logged).toHaveLength(2)
    const page = await api.call('GET', '/api/v1/calls?limit=100', { token })
    const calls: { id: string; kind: string; outcome: string }[] = page.body.data.items
    const failed = calls.filter(({ kind, outcome }) => kind === 'upload' && outcome === 'upstream_error')
    for (const line of logged) {
      expect(line).toMatchObject({
        level: 'warn',
        outcome: 'upstream_error',
        reason: 'unavailable',
        bytes: 5,
        err: {
          type: 'StorageError',
          message: expect.stringMatching(/^S3 at |^The storage accepted nothing/),
        },
      })
    }
    expect(logged.map(({ call }) => call).sort()).toEqual(failed.map(({ id }) => id).sort())
    const fileToken = new URL(kept.url).pathname.split('/').at(-2) ?? ''
    expect(fileToken).toHaveLength(43)
    for (const secret of [
      'zebra',
      'giraffe',
      'okapi',
      'Amz-',
      'a test',
      fileToken,
      chatKey,
      uploadKey,
      token,
    ]) {
      expect(gateway.output).not.toContain(secret)
    }
  })
})
