import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type GatewayWithUploads, startGatewayWithUploads } from '../support/gateway-with-uploads.ts'
import { CREATED_BY, END_OF_FORM, filePart, formUpToFile, openUpload } from '../support/upload-client.ts'

// A process, because a client, or the gateway itself, goes away in the middle of a file.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let system: GatewayWithUploads

const STALLED_MS = 3_000
/** Shorter, so that it ends an upload that stalls at the same time. */
const DRAIN_MS = 1_800

beforeAll(async () => {
  system = await startGatewayWithUploads({
    uploads: { stalledMs: STALLED_MS },
    // On a database server the next process waits until the lease of the dead one has expired.
    settings: { drain: { timeoutMs: DRAIN_MS }, instance: { leaseMs: 600 } },
  })
})
afterAll(() => system.gateway.remove())

/** More than one part of a multipart upload to S3, so that something has been stored when the upload ends. */
const HALF = Buffer.concat([
  readFileSync(join(import.meta.dirname, '../../apps/gateway/src/core/uploads/content/fixtures/ffmpeg.mp4')),
  randomBytes(5_500_000),
])

const newest = async () => (await system.settledCalls(system.key))[0]

/** Sends half of a file, and resolves when it is in the storage. */
async function half() {
  const { gateway, key } = system
  const before = (await gateway.storage.contents()).length
  const upload = openUpload(gateway.url, key.full_key)
  await upload.write(formUpToFile('film.mp4'))
  await upload.write(HALF)
  await vi.waitFor(async () => expect(await gateway.storage.contents()).toHaveLength(before + 1), {
    timeout: 20_000,
  })
  return upload
}

describe('a client that leaves', () => {
  test('in the middle of its file is settled as client_gone, and nothing is left', async () => {
    const upload = await half()
    upload.leave()
    await system.inProgress(0)
    expect(await newest()).toMatchObject({ kind: 'upload', outcome: 'client_gone', reason: null })
    await system.expectStored()
  })

  test('before the first byte of its file is not counted', async () => {
    const { gateway, key, settledCalls, api } = system
    const before = (await settledCalls(key)).length
    const upload = openUpload(gateway.url, key.full_key)
    await upload.write(formUpToFile())
    upload.leave()
    await vi.waitFor(
      async () =>
        expect((await api.call('GET', '/metrics')).body).toContain(
          'trunkline_http_requests_total{route="/api/v1/upload",method="POST",status="499"} 2\n',
        ),
      20_000,
    )
    expect(await settledCalls(key)).toHaveLength(before)
  })
})

describe('a client that stalls', () => {
  const stopped = {
    code: 400,
    reason: 'invalid_request',
    detail: `body: stopped arriving for ${STALLED_MS / 1_000} s.`,
  }

  test('in the middle of its file is refused, and nothing is left', async () => {
    const upload = await half()
    const { status, headers, body } = await upload.answer
    expect([status, body]).toMatchObject([400, stopped])
    expect(headers.get('connection')).toBe('close')
    expect(await system.settledCall(headers.get('x-call-id') ?? '')).toMatchObject({
      kind: 'upload',
      outcome: 'rejected',
      reason: 'invalid_request',
    })
    await system.expectStored()
  })

  test('before its file is refused, and not counted', async () => {
    const { gateway, key } = system
    const upload = openUpload(gateway.url, key.full_key)
    await upload.write(formUpToFile())
    const { status, headers, body } = await upload.answer
    expect([status, body]).toMatchObject([400, stopped])
    expect(headers.get('x-call-id')).toBeNull()
  })

  test('before its form is refused as well', async () => {
    const upload = openUpload(system.gateway.url, system.key.full_key)
    expect(await upload.answer).toMatchObject({ status: 400, body: stopped })
  })
})

describe('a gateway that is stopped', () => {
  test('lets running uploads finish, ends those that do not, and exits with 0', async () => {
    const { gateway } = system
    const finishing = await half()
    const stalling = await half()
    const stopped = gateway.stop()
    await gateway.prints(/"msg":"draining"/)
    await finishing.write(END_OF_FORM)
    finishing.end()
    const { status, headers, body } = await finishing.answer
    expect([status, body.data?.size]).toEqual([200, HALF.length])
    const refused = await stalling.answer
    expect(refused).toMatchObject({ status: 503, body: { reason: 'draining' } })
    expect(await stopped).toBe(0)

    const ends = await gateway.query<{ id: string; outcome: string; reason: string | null }>(
      'SELECT id, outcome, reason FROM calls ORDER BY id DESC LIMIT 2',
    )
    expect(ends).toEqual([
      { id: refused.headers.get('x-call-id'), outcome: 'drained', reason: 'draining' },
      { id: headers.get('x-call-id'), outcome: 'done', reason: null },
    ])
    await gateway.start()
    await system.expectStored(body.data.url)
    const path = `/api/v1/uploads/${body.data.id}`
    const again = await system.api.call('GET', path, { token: system.token })
    expect((await (await fetch(again.body.data.url)).arrayBuffer()).byteLength).toBe(HALF.length)
    expect((await system.api.call('DELETE', path, { token: system.token })).status).toBe(200)
  })

  test('by kill -9 settles running uploads as interrupted at its next start, and the sweep removes what they left', async () => {
    const { gateway, api, token } = system
    const { body } = await system.send([CREATED_BY, filePart('kept')])
    const upload = await half()
    await gateway.kill()
    await expect(upload.answer).rejects.toThrow()
    await gateway.start()
    if (gateway.databaseUrl !== undefined) await gateway.prints(/calls of dead instances were settled/)
    expect(await newest()).toMatchObject({ kind: 'upload', outcome: 'interrupted' })

    const sweep = async () => {
      const { code, output } = await gateway.trunkline('uploads', 'sweep', '--json')
      expect([code, output]).toEqual([0, expect.any(String)])
      return JSON.parse(output)
    }
    const nothing = { expired: 0, files: 0, records: 0, unfinished: 0, suspicious: 0 }
    // It could belong to an upload that another process is receiving.
    expect(await sweep()).toEqual(nothing)
    expect((await gateway.storage.contents()).filter((path) => path.startsWith('unfinished'))).toHaveLength(1)
    if (gateway.storage.bucket === undefined) {
      const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000)
      for (const path of await gateway.storage.contents()) {
        await utimes(join(gateway.dataDir, 'files', path), twoDaysAgo, twoDaysAgo)
      }
      expect(await sweep()).toEqual({ ...nothing, unfinished: 1 })
      await system.expectStored(body.data.url)
    }
    expect((await api.call('DELETE', `/api/v1/uploads/${body.data.id}`, { token })).status).toBe(200)
  })
})

test('after all interrupted uploads, no bytes are counted for anyone', async () => {
  const { gateway } = system
  await gateway.stop()
  expect(await gateway.query('SELECT DISTINCT upload_bytes::int FROM users')).toEqual([{ upload_bytes: 0 }])
  expect(await gateway.query('SELECT id FROM calls WHERE outcome IS NULL')).toEqual([])
})
