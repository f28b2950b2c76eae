import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPENING_MS, openUserServices, type UserServices } from '#core/auth/users.test-support.ts'
import type { ListQuery } from '#core/input/pagination.ts'
import type { Principal } from '#core/principal.ts'

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
  }, OPENING_MS)
  afterAll(() => services?.database.close())

  const ownerIds = () => owners.map(({ userId }) => userId)

  test('the page of each owner is the one that it has alone, for every caller', async () => {
    const { keys } = services
    const [owner] = owners
    // A former administrator still sees the keys that it created for others.
    const callers = [admin, { ...admin, role: 'user' } as const, owner ?? admin]
    const cursor = { id: ids[5] }
    const queries: ListQuery[] = [
      ...[{ take: 1 }, { take: 100 }, { take: -2 }],
      ...[
        { take: 2, cursor },
        { take: -2, cursor },
      ],
    ]
    for (const caller of callers) {
      for (const active of [undefined, true, false]) {
        const counts = await keys.countOfOwners(caller, ownerIds(), { active })
        for (const query of queries) {
          const pages = await keys.listOfOwners(caller, [...ownerIds(), 'no id'], query, { active })
          expect([...pages.keys()]).toEqual(ownerIds())
          for (const ownerId of ownerIds()) {
            expect(pages.get(ownerId)).toEqual(await keys.list(caller, query, { active, ownerId }))
          }
        }
        for (const ownerId of ownerIds()) {
          expect(counts.get(ownerId) ?? 0).toBe(await keys.count(caller, { active, ownerId }))
        }
      }
    }
    expect((await keys.listOfOwners(admin, ownerIds(), { take: 100 })).values().toArray().flat().length).toBe(
      12,
    )
  })

  test('a page size or a cursor that is not valid is refused, whatever the number of owners', async () => {
    for (const owners of [ownerIds(), ownerIds().slice(0, 1)]) {
      for (const query of [{ take: 1_000 }, { take: 1, cursor: { id: 'no id' } }]) {
        await expect(services.keys.listOfOwners(admin, owners, query)).rejects.toThrow(
          expect.objectContaining({ reason: 'invalid_request' }),
        )
      }
    }
  })
})
