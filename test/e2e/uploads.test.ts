import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithUploads, startGatewayWithUploads } from '../support/gateway-with-uploads.ts'
import { CREATED_BY, filePart, formOf, sendForm } from '../support/upload-client.ts'

// A process, because curl and other senders divide the same file in their own ways, and its bytes are compared on the disk.

let system: GatewayWithUploads

beforeAll(async () => {
  system = await startGatewayWithUploads()
})
afterAll(() => system.gateway.remove())

const FIXTURES = join(import.meta.dirname, '../../apps/gateway/src/core/uploads/content/fixtures')
const REPORT = readFileSync(join(FIXTURES, 'reportlab.pdf'))
/** More than one part of a multipart upload to S3. */
const LARGE = Buffer.concat([readFileSync(join(FIXTURES, 'ffmpeg.mp4')), randomBytes(6 * 1024 * 1024)])

const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')
const download = async (url: string) => new Uint8Array(await (await fetch(url)).arrayBuffer())
const DAY_MS = 86_400_000

describe('a file that is sent', () => {
  const orders = [
    ['after created_by', (file: Uint8Array) => [CREATED_BY, filePart(file, 'report.pdf')]],
    ['before created_by', (file: Uint8Array) => [filePart(file, 'report.pdf'), CREATED_BY]],
  ] as const
  const framings = [
    ['with its length', false],
    ['in chunks', true],
  ] as const
  const cases = orders.flatMap(([order, partsOf]) =>
    framings.map(([framing, isChunked]) => ({ order, framing, partsOf, isChunked })),
  )

  test.each(cases)('$order, $framing, is stored, described and served', async ({ partsOf, isChunked }) => {
    const before = Date.now()
    const { status, headers, body } = await system.send(partsOf(REPORT), { isChunked })
    expect([status, body]).toEqual([200, { code: 0, msg: 'Success', data: expect.anything() }])
    const { data } = body
    expect(data).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url: expect.stringMatching(/\/[\w-]{43}\/report\.pdf(\?|$)/),
      filename: 'report.pdf',
      content_type: 'application/pdf',
      size: REPORT.length,
      sha256: sha256(REPORT),
      created_by: 'me',
      end_user: '',
      created_at: expect.any(String),
      expires_at: expect.any(String),
      owner_id: expect.any(String),
      key_id: expect.any(String),
    })
    const createdMs = Date.parse(data.created_at)
    expect(createdMs).toBeGreaterThan(before - 5_000)
    expect(Date.parse(data.expires_at) - createdMs).toBe(7 * DAY_MS)
    expect(await download(data.url)).toEqual(new Uint8Array(REPORT))
    expect(await system.settledCall(headers.get('x-call-id') ?? '')).toMatchObject({
      kind: 'upload',
      outcome: 'done',
      reason: null,
    })
  })

  test('in several parts of the storage is the same file', async () => {
    const { body } = await system.send([CREATED_BY, filePart(LARGE, 'film.mp4')])
    expect(body.data).toMatchObject({ content_type: 'video/mp4', size: LARGE.length, sha256: sha256(LARGE) })
    expect(sha256(await download(body.data.url))).toBe(sha256(LARGE))
  })

  test('by curl is the same file', async () => {
    const path = join(system.gateway.dataDir, '..', 'report.pdf')
    await writeFile(path, REPORT)
    const { stdout } = await promisify(execFile)('curl', [
      ...['-sS', '-F', `file=@${path}`, '-F', 'created_by=me'],
      ...['-H', `Authorization: Bearer ${system.key.full_key}`, `${system.gateway.url}/api/v1/upload`],
    ])
    const { data } = JSON.parse(stdout)
    expect(data).toMatchObject({ filename: 'report.pdf', size: REPORT.length, sha256: sha256(REPORT) })
    expect(await download(data.url)).toEqual(new Uint8Array(REPORT))
  })

  test.each([
    ['a path', '../../etc/pass\u202Ewd.txt', 'passwd.txt', 'passwd.txt'],
    ['a path of Windows', 'C:\\temp\\报告.md', '报告.md', '报告.md'],
    ['an extension of another type', 'report.exe', 'report.exe', 'report.exe.txt'],
    ['600 bytes', `${'名'.repeat(200)}.csv`, `${'名'.repeat(83)}.csv`, `${'名'.repeat(83)}.csv`],
  ])('under %s keeps a clean name, and its URL the extension of its type', async (_, sent, shown, inUrl) => {
    const { body } = await system.send([CREATED_BY, filePart('a,b\n1,2\n', sent)])
    expect(body.data.filename).toBe(shown)
    expect(decodeURIComponent(new URL(body.data.url).pathname).split('/').at(-1)).toBe(inUrl)
    expect(await download(body.data.url)).toEqual(new TextEncoder().encode('a,b\n1,2\n'))
  })
})

describe('the Agent header', () => {
  const parts = [CREATED_BY, filePart('text')]

  test('is recorded in the ledger without regard to case', async () => {
    const { headers } = await system.send(parts, { headers: { agent: 'OpenAI' } })
    expect(await system.settledCall(headers.get('x-call-id') ?? '')).toMatchObject({
      agent: 'openai',
      outcome: 'done',
    })
  })

  test('that names no agent is refused before anything is counted', async () => {
    const { settledCalls, key } = system
    const before = (await settledCalls(key)).length
    const { status, body } = await system.send(parts, { headers: { agent: 'none' } })
    expect([status, body]).toMatchObject([
      400,
      {
        reason: 'unknown_agent',
        detail: expect.stringMatching(/^headers\.agent: expected one of openai, dify\./),
      },
    ])
    expect(await settledCalls(key)).toHaveLength(before)
  })

  test('that names an agent which the key must not use is refused', async () => {
    const { api, token, gateway } = system
    const key = await api.createKey(token, { permissions: ['upload'], allowed_agents: ['dify'] })
    const as = (agent: string) =>
      sendForm(gateway.url, key.full_key, formOf(...parts), { headers: { agent } })
    expect(await as('openai')).toMatchObject({ status: 403, body: { reason: 'agent_denied' } })
    expect(await as('dify')).toMatchObject({ status: 200 })
  })
})

test.each([
  ['no key', async () => 'none', 401, 'credential_malformed'],
  ['an access token', async () => system.token, 401, 'api_key_required'],
  [
    'a key without the permission',
    async () => (await system.api.createKey(system.token)).full_key,
    403,
    'permission_denied',
  ],
])('an upload with %s is refused before the body is read', async (_, credential, status, reason) => {
  const { url } = system.gateway
  const answer = await sendForm(url, await credential(), formOf(CREATED_BY, filePart('text')))
  expect([answer.status, answer.body.reason]).toEqual([status, reason])
})

describe('uploads of several keys', () => {
  test('are listed, read and deleted by their owner, and by the key that made them', async () => {
    const { api, gateway } = system
    const ann = await system.createUploader('ann')
    const second = await api.createKey(ann.token, { permissions: ['upload'] })
    const bob = await system.createUploader('bob')
    const send = async (key: string) =>
      (await sendForm(gateway.url, key, formOf(CREATED_BY, filePart('text')))).body.data
    const first = await send(ann.full_key)
    const other = await send(second.full_key)

    const listOf = async (token: string) => {
      const { body } = await api.call('GET', '/api/v1/uploads', { token })
      return body.data.items.map(({ id }: { id: string }) => id)
    }
    expect(await listOf(ann.token)).toEqual([other.id, first.id])
    expect(await listOf(ann.full_key)).toEqual([first.id])
    expect(await listOf(second.full_key)).toEqual([other.id])
    expect(await listOf(bob.token)).toEqual([])

    const call = (method: string, id: string, token: string) =>
      api.call(method, `/api/v1/uploads/${id}`, { token, headers: { 'x-request-id': 'same' } })
    const { url: _url, ...record } = first
    for (const token of [ann.token, ann.full_key]) {
      const { status, body } = await call('GET', first.id, token)
      expect([status, body.data]).toMatchObject([200, record])
      expect(await download(body.data.url)).toEqual(new TextEncoder().encode('text'))
    }

    const unknown = '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10'
    for (const token of [bob.token, bob.full_key, second.full_key, system.token]) {
      for (const method of ['GET', 'DELETE']) {
        const hidden = await call(method, first.id, token)
        expect(hidden).toMatchObject({ status: 404, body: { reason: 'upload_not_found' } })
        expect(hidden.body).toEqual((await call(method, unknown, token)).body)
        expect(hidden.body).toEqual((await call(method, 'no-id', token)).body)
      }
    }

    expect(await call('DELETE', first.id, ann.full_key)).toMatchObject({
      status: 200,
      body: { data: { id: first.id } },
    })
    expect((await fetch(first.url)).status).toBe(404)
    expect((await call('GET', first.id, ann.token)).status).toBe(404)
    expect((await call('DELETE', first.id, ann.token)).status).toBe(404)
    expect(await listOf(ann.token)).toEqual([other.id])
    expect((await call('DELETE', other.id, ann.token)).status).toBe(200)
  })

  test('are listed in pages', async () => {
    const { api, gateway } = system
    const { full_key, token } = await system.createUploader('cid')
    const ids: string[] = []
    for (let count = 0; count < 5; count += 1) {
      const { body } = await sendForm(gateway.url, full_key, formOf(CREATED_BY, filePart(`text ${count}`)))
      ids.unshift(body.data.id)
    }
    const read: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await api.call('GET', `/api/v1/uploads?limit=2${cursor}`, { token })
      read.push(...body.data.items.map(({ id }: { id: string }) => id))
      if (body.data.next_cursor === null) break
      cursor = `&cursor=${body.data.next_cursor}`
    }
    expect(read).toEqual(ids)
    for (const id of ids) await api.call('DELETE', `/api/v1/uploads/${id}`, { token })
  })
})

test('after everything is deleted, the storage is empty and no bytes are counted', async () => {
  const { api, key, gateway } = system
  const list = () => api.call('GET', '/api/v1/uploads?limit=100', { token: system.token })
  for (const { id } of (await list()).body.data.items) {
    expect((await api.call('DELETE', `/api/v1/uploads/${id}`, { token: system.token })).status).toBe(200)
  }
  // Of the key that was allowed one agent only, the administrator's token sees the uploads as well.
  expect((await api.call('GET', '/api/v1/uploads', { token: key.full_key })).body.data.items).toEqual([])
  await system.expectStored()
  await gateway.stop()
  expect(await gateway.query('SELECT DISTINCT upload_bytes::int FROM users')).toEqual([{ upload_bytes: 0 }])
  expect(await gateway.query('SELECT id FROM uploads')).toEqual([])
})
