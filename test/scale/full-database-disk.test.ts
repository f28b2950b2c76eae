import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createScratchDatabase,
  type ScratchDatabase,
} from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ChatResult, configOf, sendChat } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { query } from '../support/query.ts'
import { canMount, fillDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'

// A process, because the disk of a server fills up, and the gateway must tell that from a lost connection.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const server = process.env.E2E_DATABASE_URL ?? ''

/** The account of a server on this machine, which must own the folder of a tablespace; undefined if there is none. */
function accountOfServer(): string | undefined {
  try {
    return execFileSync('id', ['-u', 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
  } catch {
    return undefined
  }
}

const account = accountOfServer()

describe.skipIf(server === '' || !canMount || account === undefined)('a server whose disk is full', () => {
  const tablespace = `trunkline_small_${randomUUID().replaceAll('-', '')}`
  let home: string
  let folder: string
  let database: ScratchDatabase
  let platform: Platform
  let gateway: TestGateway
  let key: { full_key: string }

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'trunkline-tablespace-'))
    await chmod(home, 0o755)
    folder = join(home, 'disk')
    await mkdir(folder)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=64m,mode=700,uid=${account}`, 'tmpfs', folder])
    database = await createScratchDatabase(server)
    await query(server, `CREATE TABLESPACE ${tablespace} LOCATION '${folder}'`)
    await query(
      server,
      `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET TABLESPACE ${tablespace}`,
    )
    platform = await startPlatform()
    gateway = await startGateway({ config: configOf(platform), databaseUrl: database.url })
    const api = apiOf(gateway)
    key = await api.createKey(await api.login())
  })
  afterAll(async () => {
    await gateway?.remove()
    await platform?.close()
    await database?.drop()
    await query(server, `DROP TABLESPACE IF EXISTS ${tablespace}`)
    execFileSync('umount', ['--lazy', folder])
    await rm(home, { recursive: true })
  })

  const readiness = async () => {
    const response = await fetch(`${gateway.url}/readyz`)
    const body = (await response.json()) as {
      dependencies: Record<string, { ok: boolean; writable?: boolean; detail?: string }>
    }
    return { status: response.status, body }
  }

  const metrics = async () => (await fetch(`${gateway.url}/metrics`)).text()
  const isSaidToBeFull = ({ status, body }: Awaited<ReturnType<typeof readiness>>, samples: string) =>
    status === 200 &&
    body.dependencies.database?.writable === false &&
    body.dependencies.database.detail === 'takes no writes: its disk is full' &&
    body.dependencies.storage?.ok === true &&
    /^trunkline_disk_full 1$/m.test(samples)

  test('is told apart from a lost connection, and used again when there is space', async () => {
    const filler = join(folder, 'filler')
    expect((await sendChat(gateway.url, key.full_key)).status).toBe(200)
    onTestFinished(() => rm(filler, { force: true }))
    fillDisk(filler, 0)
    let refused: ChatResult | undefined
    while (refused === undefined) {
      const results = await Promise.all(Array.from({ length: 20 }, () => sendChat(gateway.url, key.full_key)))
      refused = results.find(({ status }) => status !== 200)
    }
    expect([refused.status, refused.reason]).toEqual([503, 'unavailable'])
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
    // A small write may still find room in between, and readiness reports the result of the last write.
    await until('readiness and metrics say so', async () => {
      await sendChat(gateway.url, key.full_key)
      return isSaidToBeFull(await readiness(), await metrics())
    })
    const failed = /^trunkline_ledger_batch_failures_total\{statement="admit",cause="disk_full"\} [1-9]/m
    await until('the failures are counted', async () => failed.test(await metrics()))
    await until('the log says so', () =>
      gateway.output.includes('"msg":"the database cannot write: its disk is full"'),
    )

    // The log has a line a second with the number of refused calls, and not one for each of them.
    const many = 200
    const refusals = await Promise.all(
      Array.from({ length: many }, () => sendChat(gateway.url, key.full_key)),
    )
    const lines = gateway.output.split('\n').filter((line) => line.includes('"msg":"unavailable"'))
    expect(refusals.filter(({ status }) => status === 503).length).toBeGreaterThan(many / 2)
    expect(lines.length).toBeLessThan(many / 4)
    await until('the lines count them', () => /"count":\d{2,},"msg":"unavailable"/.test(gateway.output))

    await rm(filler)
    await until('a chat succeeds', async () => (await sendChat(gateway.url, key.full_key)).status === 200)
    await until(
      'readiness says that it can write',
      async () => (await readiness()).body.dependencies.database?.writable === true,
    )
    await until('every call is settled', async () => {
      const open = await query(database.url, 'SELECT FROM calls WHERE outcome IS NULL')
      return open.length === 0
    })
    const { code, output } = await gateway.trunkline('usage', 'verify')
    expect([code, output]).toEqual([0, expect.stringContaining('agree')])
  })
})
