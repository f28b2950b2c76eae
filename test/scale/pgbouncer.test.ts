import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@trunkline/gateway/src/core/database/open.ts'
import {
  createScratchDatabase,
  type ScratchDatabase,
} from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway, trunkline } from '../support/gateway.ts'
import { areInstalled } from '../support/installed-tools.ts'
import { configOf, sendChat } from '../support/load.ts'
import { startPlatform } from '../support/platform.ts'
import { startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

// A process, because PgBouncer is a program, and what a start, a migration and a check say of it is printed.

const server = process.env.E2E_DATABASE_URL ?? ''

/** What PgBouncer calls the database, with how it serves it. */
const POOLS = {
  session: 'pool_mode=session pool_size=20',
  'session-of-one': 'pool_mode=session pool_size=1',
  transaction: 'pool_mode=transaction pool_size=20',
  'transaction-of-one': 'pool_mode=transaction pool_size=1',
  statement: 'pool_mode=statement pool_size=20',
}
/** Two sessions that take turns: each of two connections could get the same one again and again. */
const IN_TURNS = { 'transaction-in-turns': 'pool_mode=transaction pool_size=2' }

describe.skipIf(server === '' || !areInstalled(['pgbouncer']))('through PgBouncer', () => {
  const undo: (() => Promise<unknown>)[] = []
  let database: ScratchDatabase
  let home: string
  let urlOf: (pool: string) => string

  beforeAll(async () => {
    database = await createScratchDatabase(server)
    undo.push(database.drop)
    home = await mkdtemp(join(tmpdir(), 'trunkline-pgbouncer-'))
    // PgBouncer gives up the rights of root, and then has to read its configuration.
    await chmod(home, 0o755)
    undo.push(() => rm(home, { recursive: true }))
    const ports = [await start(POOLS), await start(IN_TURNS, 'server_round_robin = 1')]
    urlOf = (pool) => {
      const url = new URL(database.url)
      url.port = String(ports[pool in POOLS ? 0 : 1])
      url.pathname = `/${pool}`
      return url.href
    }
  })
  afterAll(async () => {
    for (const step of undo.reverse()) await step()
  })

  async function start(pools: Readonly<Record<string, string>>, more = ''): Promise<number> {
    const { hostname, port, username, password, pathname } = new URL(database.url)
    const place = `host=${hostname} port=${port || 5432} dbname=${pathname.slice(1)} user=${username} password=${password}`
    const own = await freePort()
    const databases = Object.entries(pools).map(([name, how]) => `${name} = ${place} ${how}`)
    const settings = `listen_addr = 127.0.0.1\nlisten_port = ${own}\nunix_socket_dir =\nauth_type = any\n${more}`
    const file = join(home, `${own}.ini`)
    await writeFile(file, `[databases]\n${databases.join('\n')}\n[pgbouncer]\n${settings}\n`, { mode: 0o644 })
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
    const program = startProgram('pgbouncer', [...user, file], { cwd: home })
    undo.push(() => program.stop('SIGINT'))
    await until('PgBouncer listens', () => program.output.includes('listening on'))
    return own
  }

  const PROGRESS = /^(connecting to|starting the sandbox)/
  const REFUSED = /^DATABASE_URL: a connection pooler gives .+ set pool_mode = session for its database/

  test.each(['transaction', 'transaction-of-one', 'transaction-in-turns', 'statement'])(
    'in the mode %s, the database is refused',
    async (pool) => {
      const pooled = await openDatabase({ kind: 'server', url: urlOf(pool) })
      await expect(pooled.checkSessions?.()).rejects.toThrow(REFUSED)
      await pooled.close()
    },
  )

  test('a start, a migration and a check refuse the mode transaction in one line', async () => {
    const env = { DATABASE_URL: urlOf('transaction'), PORT: '0', LOG_LEVEL: 'silent' }
    for (const command of ['start', 'migrate', 'users list']) {
      const { code, output } = await trunkline(command.split(' '), { cwd: home, env })
      const lines = output.split('\n').filter((line) => line !== '' && !PROGRESS.test(line))
      expect([code, lines]).toEqual([1, [expect.stringMatching(REFUSED)]])
    }
    const { code, output } = await trunkline(['config', 'check'], { cwd: home, env })
    expect([code, output]).toEqual([1, expect.stringMatching(/^Error: DATABASE_URL: a connection pooler/m)])
  })

  test.each([
    ['the mode session', 'session', true],
    ['the mode session, with one session', 'session-of-one', true],
    ['PostgreSQL itself', undefined, false],
  ])('in %s, sessions are found to be kept', async (_how, pool, arePooled) => {
    const url = pool === undefined ? database.url : urlOf(pool)
    const pooled = await openDatabase({ kind: 'server', url, connectTimeoutMs: 500 })
    expect(await pooled.checkSessions?.()).toEqual({ arePooled })
    await pooled.close()
  })

  test('in the mode session, a gateway serves calls and hears other processes', async () => {
    const url = urlOf('session')
    expect(await trunkline(['config', 'check'], { cwd: home, env: { DATABASE_URL: url } })).toMatchObject({
      output: expect.stringContaining(
        'DATABASE_URL: a connection pooler is in between, which keeps sessions.',
      ),
    })
    const platform = await startPlatform()
    undo.push(platform.close)
    const gateway = await startGateway({ config: configOf(platform), databaseUrl: url })
    undo.push(gateway.remove)
    const api = apiOf(gateway)
    const token = await api.login()
    const { full_key: key } = await api.createKey(token)
    expect(await sendChat(gateway.url, key)).toMatchObject({ status: 200 })
    expect(await api.call('GET', '/readyz')).toMatchObject({ status: 200 })

    const pooled = await openDatabase({ kind: 'server', url })
    const heard = Promise.withResolvers<string>()
    const subscription = pooled.listen?.('calls', heard.resolve)
    await subscription?.opened
    await pooled.sql.query("SELECT pg_notify('calls', 'one')")
    expect(await heard.promise).toBe('one')
    await subscription?.close()
    await pooled.close()
  })
})
