import { v7 } from 'uuid'
import { describe, expect, test } from 'vitest'
import type { Sql } from '#core/database/database.ts'
import type { Principal } from '#core/requests/principal.ts'
import { type Scope, scopeOf } from './scope.ts'

const [me, other, unknownId] = [v7(), v7(), v7()]
const [myKey, myOtherKey, othersKey] = [v7(), v7(), v7()]
const owners = new Map([
  [myKey, me],
  [myOtherKey, me],
  [othersKey, other],
])

const sql: Sql = {
  async query<Row>(text: string, [id]: readonly unknown[] = []) {
    if (text.includes('FROM users')) return (id === me || id === other ? [{}] : []) as Row[]
    const owner = owners.get(id as string)
    return (owner === undefined ? [] : [{ owner_id: owner }]) as Row[]
  },
}

const byToken = { kind: 'token', tokenId: v7(), expiresAt: new Date() } as const
const byKey = (...permissions: ('chat' | 'upload' | 'admin')[]) =>
  ({ kind: 'key', prefix: 'tl_000000000', keyId: myKey, permissions, allowedAgents: [] }) as const

const CALLERS: Record<string, Principal> = {
  'an admin': { userId: me, role: 'admin', via: byToken },
  'an admin by a key with admin': { userId: me, role: 'admin', via: byKey('admin') },
  'an admin by a key with chat': { userId: me, role: 'admin', via: byKey('chat') },
  'a user': { userId: me, role: 'user', via: byToken },
  'a premium user': { userId: me, role: 'premium', via: byToken },
  'a user by a key with admin': { userId: me, role: 'user', via: byKey('admin') },
  'a user by a key with upload': { userId: me, role: 'user', via: byKey('upload') },
}

const all = { kind: 'all' }
const mine = { kind: 'owner', ownerId: me }
const others = { kind: 'owner', ownerId: other }
const key = { kind: 'key', keyId: myKey, ownerId: me }
const otherKey = { kind: 'key', keyId: myOtherKey, ownerId: me }
const foreignKey = { kind: 'key', keyId: othersKey, ownerId: other }

/** What each caller may see with each of {@link FILTERS}, in their order. */
const MATRIX: Record<string, readonly (object | 'user_not_found' | 'key_not_found')[]> = {
  'an admin': [all, mine, others, key, otherKey, foreignKey],
  'an admin by a key with admin': [all, mine, others, key, otherKey, foreignKey],
  'an admin by a key with chat': [key, key, 'user_not_found', key, 'key_not_found', 'key_not_found'],
  'a user': [mine, mine, 'user_not_found', key, otherKey, 'key_not_found'],
  'a premium user': [mine, mine, 'user_not_found', key, otherKey, 'key_not_found'],
  'a user by a key with admin': [mine, mine, 'user_not_found', key, otherKey, 'key_not_found'],
  'a user by a key with upload': [key, key, 'user_not_found', key, 'key_not_found', 'key_not_found'],
}

const FILTERS = [
  {},
  { ownerId: me },
  { ownerId: other },
  { keyId: myKey },
  { keyId: myOtherKey },
  { keyId: othersKey },
]

describe.each(Object.entries(MATRIX))('%s', (name, row) => {
  test.each(FILTERS.map((filter, index) => ({ filter, expected: row[index] })))(
    'with the filter $filter has the scope of the table',
    async ({ filter, expected }) => {
      expect(await seen(name, filter)).toEqual(expected)
    },
  )

  test.each(FILTERS)(
    'with the filter %j its scope keeps the end user to whom it is bound',
    async (filter) => {
      for (const endUser of ['ann', '']) {
        const scope = await seen(name, filter)
        const bound = typeof scope === 'string' ? scope : { ...scope, endUser }
        expect(await seen(name, filter, endUser)).toEqual(bound)
      }
    },
  )

  test("a key of one user together with another user's id is not found", async () => {
    expect(await seen(name, { ownerId: me, keyId: othersKey })).toBe('key_not_found')
  })

  test.each(['key', 'user'])('an invalid id of a %s fails like one that does not exist', async (kind) => {
    const filters = [unknownId, 'no id', "' OR 1=1"].map((id) =>
      kind === 'key' ? { keyId: id } : { ownerId: id },
    )
    const results = await Promise.all(filters.map((filter) => seen(name, filter)))
    expect(results).toEqual(Array(3).fill(`${kind}_not_found`))
  })
})

async function seen(name: string, filter: object, endUser?: string): Promise<Scope | string> {
  const caller = CALLERS[name]
  if (caller === undefined) throw new Error(`there is no caller ${name}`)
  return scopeOf(sql, { ...caller, ...(endUser !== undefined && { endUser }) }, filter).catch(
    (error: { reason: string }) => error.reason,
  )
}
