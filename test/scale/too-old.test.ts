import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { configOf } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'

// A process, because a process that is too old must say so at a heartbeat, and neither start again nor run a command.

const server = process.env.E2E_DATABASE_URL ?? ''
/** No build knows it. */
const NEEDED = '29991231235959_contract'
const TOO_OLD = `this version of Trunkline is too old for the database, which needs one that knows the migration ${NEEDED}; this one knows`

/** A migration of a later version has taken away what this one uses. */
describe.skipIf(server === '')('a process that is too old for its database', () => {
  let platform: Platform
  let gateway: TestGateway

  beforeAll(async () => {
    platform = await startPlatform()
    gateway = await startGateway({ config: configOf(platform, { instance: { leaseMs: 3_000 } }) })
  })
  afterAll(async () => {
    await gateway?.remove()
    await platform?.close()
  })

  const readiness = async () => {
    const { status, body } = await apiOf(gateway).call('GET', '/readyz')
    return { status, database: body.dependencies.database }
  }
  const needs = (build: string) =>
    gateway.query(
      `INSERT INTO settings (name, value) VALUES ('min_build', $1)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [build],
    )

  test('stays ready while the database needs what it knows', async () => {
    const [known] = await gateway.query<{ name: string }>(
      'SELECT max(migration_name) AS name FROM _prisma_migrations',
    )
    await needs(known?.name ?? '')
    expect(await gateway.query('SELECT build AS name FROM instances WHERE stopped_at IS NULL')).toEqual([
      known,
    ])
    expect(await readiness()).toEqual({ status: 200, database: { ok: true, writable: true } })
  })

  test('is not ready from the next heartbeat on, says why once, and is ready again when it may be', async () => {
    await needs(NEEDED)
    await expect
      .poll(readiness)
      .toEqual({ status: 503, database: { ok: false, detail: expect.stringContaining(TOO_OLD) } })
    await gateway.prints(new RegExp(`not ready: ${TOO_OLD}`))
    await needs('')
    await expect.poll(async () => (await readiness()).status).toBe(200)
    await gateway.prints(/this version is no longer too old for the database/)
    expect(gateway.output.match(new RegExp(`not ready: ${TOO_OLD}`, 'g'))).toHaveLength(1)
  })

  test('does not start, and runs no command', async () => {
    await needs(NEEDED)
    await gateway.stop()
    for (const command of [['start'], ['users', 'list']]) {
      const { code, output } = await gateway.trunkline(...command)
      expect(code).toBe(1)
      expect(output).toMatch(new RegExp(`^${TOO_OLD} \\d{14}_\\w+ and earlier ones\\.$`, 'm'))
      expect(output).not.toMatch(/^ +at /m)
    }
  })
})
