import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { configOf, sendChat } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { query } from '../support/query.ts'

// A process, because pg_dump and pg_restore are programs, and a gateway must go on from what they write.

const server = process.env.E2E_DATABASE_URL ?? ''
const run = promisify(execFile)

/** PostgreSQL's own tools make a backup while calls run, and a gateway goes on from it. */
describe.skipIf(server === '' || !hasTools())('a dump that is restored into another database', () => {
  const closers: (() => Promise<unknown>)[] = []
  let platform: Platform
  let restored: TestGateway
  let key: string
  let answered: string[]
  let running: ReturnType<typeof sendChat>

  beforeAll(async () => {
    const home = await mkdtemp(join(tmpdir(), 'trunkline-dump-'))
    closers.push(() => rm(home, { recursive: true }))
    platform = await startPlatform()
    closers.push(platform.close)
    const config = configOf(platform, { instance: { leaseMs: 2_000 } })
    const source = await createScratchDatabase(server)
    closers.push(source.drop)
    const original = await startGateway({ config, databaseUrl: source.url })
    closers.push(original.remove)
    const api = apiOf(original)
    key = (await api.createKey(await api.login())).full_key
    answered = []
    for (let n = 0; n < 3; n += 1) answered.push((await sendChat(original.url, key)).id)
    // A call that is open while the backup is made.
    platform.hold()
    running = sendChat(original.url, key)
    await platform.receives(4)

    const file = join(home, 'trunkline.dump')
    await run('pg_dump', ['--format=custom', '--file', file, source.url])
    platform.release()
    await running
    const target = await createScratchDatabase(server, { template: undefined })
    closers.push(target.drop)
    await run('pg_restore', ['--no-owner', '--exit-on-error', '--dbname', target.url, file])
    restored = await startGateway({ config, databaseUrl: target.url })
    closers.push(restored.remove)
  })
  afterAll(async () => {
    for (const close of closers.reverse()) await close()
  })

  test('has the users, the keys and the calls, and the gateway serves on it', async () => {
    const api = apiOf(restored)
    const token = await api.login()
    const more = await sendChat(restored.url, key)
    expect(more.status).toBe(200)
    const shown = async () => {
      const { body } = await api.call('GET', '/api/v1/calls?outcome=done', { token })
      return body.data.items.map(({ request_id }: { request_id: string }) => request_id).sort()
    }
    await expect.poll(shown).toEqual([...answered, more.id].sort())
  })

  test('settles the calls that were open as interrupted, and its counters agree with its ledger', async () => {
    const outcomeOf = async () => {
      const { id } = await running
      return query(restored.databaseUrl ?? '', 'SELECT outcome FROM calls WHERE request_id = $1', [id])
    }
    await expect.poll(outcomeOf).toEqual([{ outcome: 'interrupted' }])
    expect(await restored.trunkline('usage', 'verify')).toMatchObject({ code: 0 })
  })
})

/** @throws if the tools are missing where REQUIRE_SERVICES is set */
function hasTools(): boolean {
  try {
    execFileSync('pg_dump', ['--version'])
    execFileSync('pg_restore', ['--version'])
    return true
  } catch (cause) {
    if (process.env.REQUIRE_SERVICES) throw new Error('pg_dump and pg_restore are required here', { cause })
    console.warn('pg_dump and pg_restore are missing: the test of a dump is skipped')
    return false
  }
}
