import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { KeyFilter } from './key-filter.ts'

let services: UserServices
let admin: Principal
/** The names of keys by their ids, and their secrets by their names. */
const names = new Map<string, string>()
const secrets = new Map<string, string>()

/** Keys that were made 200 days ago and expire in 100, with what is different about them. */
const KEYS = {
  'never used': '',
  'made lately': "created_at = now() - interval '89 days'",
  'used 91 days ago': at("now() - interval '91 days'"),
  'used 89 days ago': at("now() - interval '89 days'"),
  'paused and unused': 'paused_at = now()',
  'revoked and unused': 'revoked_at = now()',
  'expired and unused': "expires_at = now() - interval '1 h'",
  'used and expires in 29 days': `${at('now()')}, expires_at = now() + interval '29 days'`,
  'paused and expires in 29 days': `${at('now()')}, expires_at = now() + interval '29 days', paused_at = now()`,
}

function at(time: string): string {
  return `last_used_at = ${time}, day_start = date_trunc('day', ${time}, 'UTC')`
}

beforeAll(async () => {
  services = await openUserServices()
  admin = await services.join('admin')
  for (const [name, columns] of Object.entries(KEYS)) {
    const { id, fullKey } = await services.keyOf(admin)
    names.set(id, name)
    secrets.set(name, fullKey)
    const old = `created_at = now() - interval '200 days', expires_at = now() + interval '100 days', last_used_at = NULL,
      secret_used_at = NULL, day_start = '1970-01-01Z'`
    await services.database.sql.query(`UPDATE api_keys SET ${old} WHERE id = $1`, [id])
    if (columns !== '')
      await services.database.sql.query(`UPDATE api_keys SET ${columns} WHERE id = $1`, [id])
  }
})
afterAll(() => services.database.close())

async function found(filter: KeyFilter): Promise<string[]> {
  const keys = await services.keys.list(admin, { take: 100 }, filter)
  expect(await services.keys.count(admin, filter)).toBe(keys.length)
  return keys.map(({ id }) => names.get(id) ?? '').toSorted()
}

test('unused keys are those that can still become active, of which those never used count from their creation', async () => {
  expect(await found({ unusedFor: '90d' })).toEqual(['never used', 'paused and unused', 'used 91 days ago'])
  expect(await found({ unusedFor: '90d', state: 'paused' })).toEqual(['paused and unused'])
  expect(await found({ unusedFor: '201d' })).toEqual([])
  expect(await found({ unusedFor: '1d' })).toContain('used 89 days ago')
})

test('keys that expire within days are active ones', async () => {
  expect(await found({ expiresWithin: '30d' })).toEqual(['used and expires in 29 days'])
  expect(await found({ expiresWithin: '28d' })).toEqual([])
  expect(await found({ expiresWithin: '30d', unusedFor: '90d' })).toEqual([])
})

test('a read is a use, and not one of a call', async () => {
  const from = { address: '192.0.2.1', requestId: '' }
  await services.authentication.authenticate(secrets.get('never used') ?? '', from, () => undefined)
  expect(await found({ unusedFor: '90d' })).toEqual(['paused and unused', 'used 91 days ago'])
  const key = await services.database.prisma.apiKey.findFirstOrThrow({
    where: { id: [...names].find(([, name]) => name === 'never used')?.[0] ?? '' },
  })
  expect(key).toMatchObject({ dayCalls: 0n, totalCalls: 0n, lastUsedAt: expect.any(Date) })
})

test.each(['0d', '90', 'd', '1.5d', '-1d', '10000d', '', ' 90d', '90D'])(
  '%o is no number of days',
  async (text) => {
    for (const field of ['unusedFor', 'expiresWithin'] as const)
      for (const _try of [1, 2])
        await expect(services.keys.list(admin, { take: 1 }, { [field]: text })).rejects.toMatchObject({
          reason: 'invalid_request',
          field: [field],
        })
  },
)
