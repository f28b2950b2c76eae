import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import {
  createScratchBucket,
  type ScratchBucket,
  s3TestServer,
} from '@trunkline/gateway/src/core/uploads/storage/scratch-bucket.test-support.ts'
import { type Sandbox, startSandbox } from '@trunkline/sandbox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import { traceOf } from '../support/files-in-chats.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { query } from '../support/query.ts'
import { inBucket, ON_DISK, sendFile, type UploadRecord, uploadFile } from '../support/uploads.ts'

// A process, because what one gateway stores the other must serve, and each has only the storage in common.

const server = process.env.E2E_DATABASE_URL ?? ''
const s3 = s3TestServer()
/** What the outside calls both gateways, as behind a load balancer. */
const PUBLIC_URL = 'http://gateway.example'

/** A gateway of two workers and one of a single process, on one PostgreSQL. */
describe.skipIf(server === '' || s3 === undefined).each(['bucket', 'folder'])(
  'two gateways share a %s:',
  (kind) => {
    let database: Awaited<ReturnType<typeof createScratchDatabase>>
    let bucket: ScratchBucket
    let folder: string
    let sandbox: Sandbox
    let gateways: TestGateway[]
    let token: string
    let key: string

    beforeAll(async () => {
      if (s3 === undefined) return
      database = await createScratchDatabase(server)
      bucket = await createScratchBucket(s3)
      folder = await mkdtemp(join(tmpdir(), 'trunkline-shared-'))
      sandbox = await startSandbox({ delayMs: 0 })
      const { baseUrl = '', apiKey = '' } = sandbox.agents.dify
      const plenty = { points: 100_000 }
      const options = {
        config: JSON.stringify({
          agents: { dify: { baseUrl, apiKey } },
          limits: { chat: plenty, upload: plenty, writes: plenty, adminWrites: plenty },
          // Turns are not the subject here.
          uploads: { inFlightPerOwnerMax: 64 },
        }),
        databaseUrl: database.url,
      }
      const env = kind === 'bucket' ? inBucket(bucket) : { ...ON_DISK, DATA_DIR: folder }
      gateways = []
      for (const more of [{ WORKERS: '2' }, {}]) {
        const port = await freePort()
        const gateway = await startGateway({
          ...options,
          env: { ...env, ...more, PUBLIC_URL, PORT: String(port) },
        })
        // Its own URL is the public one.
        gateways.push({ ...gateway, url: `http://127.0.0.1:${port}` })
      }
      const api = apiOf(at(0))
      token = await api.login()
      ;({ full_key: key } = await api.createKey(token, { permissions: ['chat', 'upload'] }))
    })
    afterAll(async () => {
      await Promise.all((gateways ?? []).map((gateway) => gateway.remove()))
      await sandbox?.close()
      await database?.drop()
      await bucket?.drop()
      await rm(folder, { recursive: true, force: true })
    })

    const at = (index: number) => gateways[index] as TestGateway
    const idsAt = async (index: number) => {
      const { body } = await apiOf(at(index)).call('GET', '/api/v1/uploads?limit=100', { token: key })
      return body.data.items.map(({ id }: UploadRecord) => id)
    }
    /** Deletes a file, again and again while the gateway asks for that, as a client does. */
    async function deleteUpload(gateway: TestGateway, id: string): Promise<{ readonly status: number }> {
      for (;;) {
        const answer = await apiOf(gateway).call('DELETE', `/api/v1/uploads/${id}`, { token: key })
        if (answer.status !== 503 || answer.headers.get('retry-after') === null) return answer
      }
    }
    /** Reads a URL through this gateway, as the load balancer might. */
    const download = (url: string, index: number) => fetch(url.replace(PUBLIC_URL, at(index).url))

    test.each([
      [0, 1],
      [1, 0],
    ])(
      'an upload at gateway %i is listed, served, used in a chat and deleted at gateway %i',
      async (from, to) => {
        const content = `A file of gateway ${from}.`
        const { id, url } = await uploadFile(at(from).url, key, content)
        expect(await idsAt(to)).toEqual([id])
        expect(await (await download(url, to)).text()).toBe(content)
        const shown = await apiOf(at(to)).call('GET', `/api/v1/uploads/${id}`, { token: key })
        for (const each of [url, shown.body.data.url]) {
          const reply = await apiOf(at(to)).chat(key, 'dify', { files: [each] })
          expect([reply.status, await reply.text()]).toEqual([
            200,
            expect.stringContaining(traceOf({ content: Buffer.from(content) })),
          ])
        }
        expect(await apiOf(at(to)).call('DELETE', `/api/v1/uploads/${id}`, { token: key })).toMatchObject({
          status: 200,
        })
        expect(await idsAt(from)).toEqual([])
        expect((await download(url, from)).status).toBe(404)
        const reply = await apiOf(at(from)).chat(key, 'dify', { files: [url] })
        expect([reply.status, await reply.json()]).toMatchObject([404, { reason: 'upload_not_found' }])
      },
    )

    test('uploads and deletions at all processes at once leave nothing, and their space is counted exactly', async () => {
      const uploads = await Promise.all(
        Array.from({ length: 40 }, (_, index) => uploadFile(at(index % 2).url, key, `file ${index}`)),
      )
      expect((await idsAt(0)).sort()).toEqual(uploads.map(({ id }) => id).sort())
      const bytes = () =>
        query<{ bytes: string }>(database.url, 'SELECT sum(upload_bytes)::text AS bytes FROM users')
      const sum = uploads.reduce((total, { size }) => total + size, 0)
      expect(await bytes()).toEqual([{ bytes: String(sum) }])
      // Every upload is deleted by two processes at the same time.
      const deletions = await Promise.all(
        uploads.flatMap(({ id }) => gateways.map((gateway) => deleteUpload(gateway, id))),
      )
      for (const { status } of deletions) expect([200, 404]).toContain(status)
      expect(deletions.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(uploads.length)
      expect(await bytes()).toEqual([{ bytes: '0' }])
      expect(await idsAt(1)).toEqual([])
      for (const { url } of uploads) expect((await download(url, 0)).status).toBe(404)
      if (kind === 'bucket') expect(await bucket.leftovers()).toEqual([])
    })

    test('sweeps of both at once delete each expired upload once', async () => {
      await Promise.all(
        Array.from({ length: 30 }, (_, index) => uploadFile(at(index % 2).url, key, `old ${index}`)),
      )
      const kept = await uploadFile(at(0).url, key, 'kept')
      await query(database.url, 'UPDATE uploads SET expires_at = now() WHERE id <> $1', [kept.id])
      const sweeps = await Promise.all(gateways.map((gateway) => gateway.trunkline('uploads', 'sweep')))
      for (const { code } of sweeps) expect(code).toBe(0)
      expect(await query(database.url, 'SELECT id FROM uploads')).toEqual([{ id: kept.id }])
      expect(
        await query(database.url, 'SELECT FROM users WHERE upload_bytes = $1', [kept.size]),
      ).toHaveLength(1)
      expect(await (await download(kept.url, 1)).text()).toBe('kept')
    })

    test('the space of a user is one for all processes', async () => {
      const [{ id, bytes } = { id: '', bytes: '' }] = await query<{ id: string; bytes: string }>(
        database.url,
        'SELECT id, upload_bytes::text AS bytes FROM users WHERE upload_bytes > 0',
      )
      // Room for exactly five more files of ten bytes.
      const almostFull = 10 * 1024 ** 3 - 50
      await query(database.url, 'UPDATE users SET upload_bytes = $1 WHERE id = $2', [almostFull, id])
      const results = await Promise.all(
        Array.from({ length: 12 }, (_, index) => sendFile(at(index % 2).url, key, '0123456789')),
      )
      const statuses = results.map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(5)
      expect(statuses.filter((status) => status === 413)).toHaveLength(7)
      expect(await idsAt(1)).toHaveLength(6)
      await query(database.url, 'UPDATE users SET upload_bytes = $1 WHERE id = $2', [Number(bytes) + 50, id])
    })
  },
)
