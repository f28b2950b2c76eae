import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { apiOf } from '../support/api.ts'
import { launch, prepareGateway, startGateway, type TestGateway, trunkline } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { ON_DISK, type UploadRecord, uploadFile } from '../support/uploads.ts'

// A process, because an import is killed half way, and the data directory belongs to one process at a time.

// Every command starts a process, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

let home: string
let gateway: TestGateway
let key: string
let env: Record<string, string>
const target = (name: string) => join(home, name)
const restore = (dataDir: string, file = 'backup.ndjson.gz') =>
  trunkline(['db', 'import', target(file), '--files', target('files'), '--json'], {
    env: { ...env, DATA_DIR: target(dataDir) },
  })

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trunkline-restore-'))
  env = { DATABASE_URL: '', DATA_DIR: target('data'), ...ON_DISK }
  gateway = await startGateway({ env })
  const api = apiOf(gateway)
  ;({ full_key: key } = await api.createKey(await api.login(), { permissions: ['upload'] }))
  await uploadFile(gateway.url, key, 'a,b\n1,2\n', 'table.csv')
  const exported = await gateway.trunkline(
    'db',
    'export',
    target('backup.ndjson.gz'),
    '--files',
    target('files'),
  )
  expect(exported).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await gateway?.remove()
  await rm(home, { recursive: true })
})

/** Starts a gateway on a restored directory, and returns what it serves of the uploads. */
async function servedFrom(dataDir: string): Promise<string[]> {
  const restored = await prepareGateway({ env: { ...env, DATA_DIR: target(dataDir) } })
  onTestFinished(() => restored.remove())
  await restored.start()
  const { body } = await apiOf(restored).call('GET', '/api/v1/uploads', { token: key })
  const uploads: UploadRecord[] = body.data.items
  return await Promise.all(
    uploads.map(async ({ url }) => {
      const { pathname } = new URL(url)
      return await (await fetch(new URL(pathname, restored.url))).text()
    }),
  )
}

test('an export of a running embedded gateway is a backup, from which another one serves the same', async () => {
  const { code, output } = await restore('restored')
  expect([code, output]).toEqual([0, output])
  expect(JSON.parse(output)).toMatchObject({ api_keys: 1, uploads: 1, uploaded_files: 1 })
  expect((await readdir(target('restored'))).sort()).not.toContain('importing')
  expect(await servedFrom('restored')).toEqual(['a,b\n1,2\n'])
})

test('an import that is killed leaves nothing half, and the next one succeeds', async () => {
  const args = ['db', 'import', target('backup.ndjson.gz'), '--files', target('files')]
  const killed = { ...env, DATA_DIR: target('killed'), PATH: process.env.PATH ?? '' }
  const { child } = launch(args, home, killed)
  await until('the database is being made', async () => existsSync(target('killed/importing/db')))
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
  expect(existsSync(target('killed/db'))).toBe(false)
  expect(await restore('killed')).toMatchObject({ code: 0 })
  expect(await servedFrom('killed')).toEqual(['a,b\n1,2\n'])
})

test('a directory that is in use or not empty is refused, and stays as it is', async () => {
  expect(await restore('data')).toEqual({
    code: 1,
    output: expect.stringContaining('is in use by the process'),
  })
  await gateway.stop()
  const { code, output } = await restore('data')
  expect([code, output]).toEqual([1, expect.stringContaining('has a database already')])
  await gateway.start()
  const { body } = await apiOf(gateway).call('GET', '/api/v1/uploads', { token: key })
  expect(body.data.items).toHaveLength(1)
})
