import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { GATEWAY, type Who } from '#core/audit/actor.ts'
import { auditEventsOf } from '#core/database/table-rows.test-support.ts'
import { readWantedConfiguration, wantConfiguration } from './wanted-sql.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'

const OPERATOR: Who = { actor: 'command', name: 'root@host' }
const served = (name: string) => ({
  fingerprint: `${name}-fingerprint`,
  description: { agents: { [name]: 1 } },
})

describe(kind, () => {
  let services: UserServices
  let first = 0
  const sql = () => services.database.sql
  const events = async () => (await auditEventsOf(sql())).filter(({ n }) => n > first)

  beforeAll(async () => {
    services = await openUserServices(serverUrl)
  })
  afterAll(() => services.database.close())
  beforeEach(async () => {
    await sql().query("DELETE FROM settings WHERE name IN ('configuration', 'configuration_wanted')")
    first = (await auditEventsOf(sql())).at(-1)?.n ?? 0
  })

  const start = (name: string) => wantConfiguration(sql(), served(name), { who: GATEWAY, isReload: false })
  const reload = (name: string) => wantConfiguration(sql(), served(name), { who: OPERATOR, isReload: true })

  test('starts with the same configuration add one event, and no reload', async () => {
    for (const wanted of await Promise.all([start('a'), start('a')]))
      expect(wanted).toMatchObject({ number: 0, fingerprint: 'a-fingerprint' })
    await start('a')
    await start('b')
    expect(await readWantedConfiguration(sql())).toEqual({ number: 0, fingerprint: 'b-fingerprint' })
    expect(await events()).toMatchObject([
      { operation: 'configuration.load', actor: 'gateway', after: '{"agents":{"a":1}}' },
      { before: '{"agents":{"a":1}}', after: '{"agents":{"b":1}}' },
    ])
  })

  test('each reload has a number of its own, also two at the same time, and an event where something has changed', async () => {
    await start('a')
    const numbers = (await Promise.all([reload('b'), reload('b'), reload('b')])).map(({ number }) => number)
    expect(numbers.toSorted()).toEqual([1, 2, 3])
    expect((await reload('b')).before).toEqual(served('b').description)
    expect(await readWantedConfiguration(sql())).toEqual({ number: 4, fingerprint: 'b-fingerprint' })
    expect(await events()).toMatchObject([
      { operation: 'configuration.load' },
      {
        operation: 'configuration.reload',
        actor: 'command',
        name: 'root@host',
        before: '{"agents":{"a":1}}',
      },
    ])
  })

  test('nothing is wanted before the first process has started', async () => {
    expect(await readWantedConfiguration(sql())).toBeUndefined()
  })
})
