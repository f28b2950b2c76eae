import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openEngine } from '@trunkline/gateway/src/core/database/embedded/engine.ts'
import { embeddedPool } from '@trunkline/gateway/src/core/database/embedded/open-embedded.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Api, apiOf, inOneYear } from '../support/api.ts'
import { prepareGateway, type TestGateway } from '../support/gateway.ts'
import { configOf, countByReason, sendChat } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { canMount, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'
import { CREATED_BY, filePart, formOf, sendForm } from '../support/upload-client.ts'

// A process, because its data directory is a disk of its own, which fills up, and which a restart must find usable.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const MIB = 1024 * 1024

let platform: Platform
let gateway: TestGateway
let disk: SmallDisk
let api: Api
let token: string
let key: { id: string; full_key: string }

/** Starts a gateway whose `DATA_DIR` is a disk of this size. */
async function startOn(bytes: number, storage: object, prepare = async () => undefined as unknown) {
  platform = await startPlatform()
  const { agents, ...others } = JSON.parse(configOf(platform, { storage }))
  // A busy machine may take longer to fill the disk than a platform may take by default.
  const counting = { ...agents.counting, timeouts: { firstByteMs: 600_000 } }
  const config = JSON.stringify({ ...others, agents: { counting } })
  gateway = await prepareGateway({ config, isOnDisk: true })
  disk = await mountSmallDisk(gateway.dataDir, bytes)
  await prepare()
  await gateway.start()
  api = apiOf(gateway)
  token = await api.login()
  key = await api.createKey(token, { permissions: ['chat', 'upload'] })
}

async function stopAll() {
  await gateway?.kill()
  disk?.unmount()
  await gateway?.remove()
  await platform?.close()
}

const readiness = () => api.call('GET', '/readyz')
const isReady = async () => (await readiness()).status === 200
const metric = async (name: string) => {
  const text = await fetch(`${gateway.url}/metrics`).then((response) => response.text())
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}
const linesWith = (text: string) => gateway.output.split('\n').filter((line) => line.includes(text))

describe.skipIf(!canMount)('a disk that is almost full', () => {
  beforeAll(() => startOn(600 * MIB, {}))
  afterAll(stopAll)

  test('refuses calls and changes at once, lets running calls end, and all else goes on', async () => {
    platform.hold()
    const running = sendChat(gateway.url, key.full_key)
    await platform.receives(1)
    disk.fill(200 * MIB)
    await until('it is not ready', async () => !(await isReady()))
    expect((await readiness()).body).toMatchObject({
      status: 'not_ready',
      dependencies: {
        database: { ok: true },
        disk: { ok: false, detail: expect.stringContaining('DATA_DIR has too little free space') },
        storage: { ok: true },
      },
    })
    await until('the metrics say so', async () => (await metric('trunkline_disk_full')) === 1)
    expect(await metric('trunkline_data_dir_free_bytes')).toBeLessThan(256 * MIB)

    const refused = await Promise.all(Array.from({ length: 20 }, () => sendChat(gateway.url, key.full_key)))
    expect(countByReason(refused)).toEqual({ unavailable: 20 })
    // A call that has waited for a database without an answer would get a `Retry-After` of one second.
    for (const { status, retryAfter } of refused) expect([status, retryAfter]).toEqual([503, '5'])
    const upload = await sendForm(gateway.url, key.full_key, formOf(CREATED_BY, filePart('text')))
    expect([upload.status, upload.body.reason]).toEqual([503, 'unavailable'])
    const user = { username: 'late', password: 'a long password' }
    const newKey = { name: 'late', description: '', expires_at: inOneYear(), permissions: ['chat'] }
    for (const [method, path, body] of [
      ['POST', '/api/v1/users', user],
      ['POST', '/api/v1/api-keys', newKey],
      ['PATCH', `/api/v1/api-keys/${key.id}`, { name: 'other' }],
      ['POST', `/api/v1/api-keys/${key.id}/revoke`, undefined],
      ['POST', '/api/v1/logout', undefined],
    ] as const) {
      const { status, body: answer } = await api.call(method, path, { token, body })
      expect([method, path, status, answer.reason]).toEqual([method, path, 503, 'unavailable'])
    }
    // A credential that is not good is refused as such.
    expect((await api.call('POST', '/api/v1/users', { token: 'no token', body: user })).status).toBe(401)
    const command = await gateway.trunkline('users', 'create', 'late')
    expect([command.code, command.output]).toEqual([1, expect.stringContaining('too little disk space')])

    const again = await api.login()
    expect((await api.call('GET', '/api/v1/users/me', { token: again })).body.data.api_calls_count).toBe(1)
    expect((await api.call('GET', '/api/v1/api-keys', { token: again })).status).toBe(200)
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)

    platform.release()
    expect((await running).status).toBe(200)
    await until('the running call is settled', async () => {
      const { body } = await api.call('GET', '/api/v1/calls', { token: again })
      return body.data.items.length === 1 && body.data.items[0].outcome === 'done'
    })
    expect(platform.received).toHaveLength(1)
    expect(linesWith('nothing is admitted or changed"')).toHaveLength(1)
  })

  test('is used again as soon as there is space', async () => {
    await disk.free()
    await until('it is ready', isReady)
    expect((await sendChat(gateway.url, key.full_key)).status).toBe(200)
    expect((await api.createUser(token, 'late')).id).toBeDefined()
    await until('the metrics say so', async () => (await metric('trunkline_disk_full')) === 0)
    // The log arrives on its own way, and may do so after the answers.
    await until('it is logged once', () => linesWith('DATA_DIR has enough free space again').length === 1)
    expect(await gateway.stop()).toBe(0)
    await gateway.start()
  })
})

describe.skipIf(!canMount)('a disk without any space, and no bound', () => {
  let logFile: string

  /** Leaves little room in PostgreSQL's current segment of the log, so that it soon needs the next one. */
  async function useUpLog(): Promise<void> {
    const engine = await openEngine({ dataDir: join(gateway.dataDir, 'db') })
    const pool = embeddedPool(engine)
    await pool.query('SELECT pg_switch_wal()')
    await pool.query("SELECT pg_logical_emit_message(false, 'test', repeat('x', 15500000))")
    const { rows } = await pool.query<{ name: string }>(
      'SELECT pg_walfile_name(pg_current_wal_lsn()) AS name',
    )
    logFile = rows[0]?.name ?? ''
    await pool.end()
    await engine.close()
  }

  /** PostgreSQL prepares them where there is space, and needs none again until they are used up. */
  async function removeNextLogFiles(): Promise<void> {
    const folder = join(gateway.dataDir, 'db/pg_wal')
    for (const name of await readdir(folder)) {
      if (/^[0-9A-F]{24}$/.test(name) && name > logFile) await rm(join(folder, name))
    }
  }

  beforeAll(() => startOn(200 * MIB, { freeBytesMin: 0 }, useUpLog))
  afterAll(stopAll)

  test('fails calls at once and says why, and ends neither the process nor its streams', async () => {
    platform.hold()
    const running = sendChat(gateway.url, key.full_key)
    await platform.receives(1)
    await removeNextLogFiles()
    disk.fill(0)
    const change = () =>
      api.call('PATCH', `/api/v1/api-keys/${key.id}`, {
        token,
        body: { description: randomUUID().repeat(10) },
      })
    while (linesWith('the embedded database was lost').length === 0) {
      await Promise.all(Array.from({ length: 20 }, change))
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
    }
    const refused = await sendChat(gateway.url, key.full_key)
    expect([refused.status, refused.reason]).toEqual([503, 'unavailable'])
    expect(await isReady()).toBe(false)
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
    await until('it is counted', async () => (await metric('trunkline_embedded_database_losses_total')) > 0)

    platform.release()
    expect((await running).status).toBe(200)
    await disk.free()
    await until('it is ready', isReady, 60_000)
    expect((await sendChat(gateway.url, key.full_key)).status).toBe(200)
    await until('both calls are settled', async () => {
      const { body } = await api.call('GET', '/api/v1/calls', { token })
      return body.data.items.filter(({ outcome }: { outcome: string }) => outcome === 'done').length === 2
    })
    const { code, output } = await gateway.trunkline('usage', 'verify')
    expect([code, output]).toEqual([0, expect.stringContaining('agree')])
  })

  test('is no reason to ignore SIGTERM', async () => {
    disk.fill(0)
    await Promise.all(Array.from({ length: 5 }, () => sendChat(gateway.url, key.full_key)))
    expect(await gateway.stop()).toBe(0)
    await disk.free()
    await gateway.start()
    expect((await sendChat(gateway.url, key.full_key)).status).toBe(200)
  })
})
