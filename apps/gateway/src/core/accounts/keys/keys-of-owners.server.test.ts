import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { cursorOf } from '#core/lists/list-order.ts'
import type { Principal } from '#core/requests/principal.ts'
import { KEY_STATES } from './key.ts'
import type { KeyListQuery } from './keys.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'

describe(kind, () => {
  let services: UserServices
  let admin: Principal
  let owners: Principal[]
  let ids: string[]

  beforeAll(async () => {
    services = await openUserServices(serverUrl)
    admin = await services.join('admin')
    owners = [await services.join('premium'), await services.join('premium'), await services.join('user')]
    ids = []
    for (let round = 0; round < 4; round += 1) {
      for (const { userId } of owners) {
        const { id } = await services.keyOf(admin, { ownerId: userId })
        ids.push(id)
        if (round % 2 === 0) await services.keys.revoke(admin, id)
      }
    }
  })
  afterAll(() => services?.database.close())

  const ownerIds = () => owners.map(({ userId }) => userId)

  test('the page of each owner is the one that it has alone, for every caller', async () => {
    const { keys } = services
    const [owner] = owners
    // A former administrator still sees the keys that it created for others.
    const callers = [admin, { ...admin, role: 'user' } as const, owner ?? admin]
    const cursor = cursorOf('created_at', { id: ids[5] ?? '' })
    const [, , third] = await keys.list(admin, { take: 10, orderBy: 'last_used_at' })
    const queries: KeyListQuery[] = [
      ...[{ take: 1 }, { take: 100 }, { take: -2 }],
      ...[
        { take: 2, cursor },
        { take: -2, cursor },
      ],
      ...[
        { take: 2, orderBy: 'name' as const },
        { take: -2, orderBy: 'expires_at' as const, order: 'desc' as const },
        { take: 2, orderBy: 'last_used_at' as const, cursor: third?.cursor },
      ],
    ]
    const filters = [{}, ...KEY_STATES.map((state) => ({ state })), { search: 'KEY' }, { search: 'no such' }]
    for (const caller of callers) {
      for (const filter of filters) {
        const counts = await keys.countOfOwners(caller, ownerIds(), filter)
        for (const query of queries) {
          const pages = await keys.listOfOwners(caller, [...ownerIds(), 'no id'], query, filter)
          expect([...pages.keys()]).toEqual(ownerIds())
          for (const ownerId of ownerIds()) {
            const alone = keys.list(caller, query, { ...filter, ownerId })
            expect(pages.get(ownerId)).toEqual(await unlessUnknown(alone, []))
          }
        }
        for (const ownerId of ownerIds()) {
          const alone = keys.count(caller, { ...filter, ownerId })
          expect(counts.get(ownerId) ?? 0).toBe(await unlessUnknown(alone, 0))
        }
      }
    }
    expect((await keys.listOfOwners(admin, ownerIds(), { take: 100 })).values().toArray().flat().length).toBe(
      12,
    )
  })

  test('a page size or a cursor that is not valid is refused, whatever the number of owners', async () => {
    for (const owners of [ownerIds(), ownerIds().slice(0, 1)]) {
      for (const query of [{ take: 1_000 }, { take: 1, cursor: 'no cursor' }]) {
        await expect(services.keys.listOfOwners(admin, owners, query)).rejects.toThrow(
          expect.objectContaining({ reason: 'invalid_request' }),
        )
      }
    }
  })
})

/** The list of an owner alone is refused where the caller may not know of that owner. */
async function unlessUnknown<Found>(found: Promise<Found>, nothing: Found): Promise<Found> {
  return found.catch((error: unknown) => {
    if (error instanceof Problem && error.reason === 'user_not_found') return nothing
    throw error
  })
}
