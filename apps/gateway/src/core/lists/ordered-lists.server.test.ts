import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { callsThisMonth, callsToday, totalCalls } from '#core/accounts/keys/key.ts'
import { KEY_ORDERS, type KeyFilter, type KeyOrder } from '#core/accounts/keys/key-filter.ts'
import { createKeys, type KeyListQuery } from '#core/accounts/keys/keys.ts'
import { USER_ORDERS, type UserFilter, type UserOrder } from '#core/accounts/users/user-filter.ts'
import type { Reads, Slices } from '#core/limits/sharing/reads.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { ApiKey } from '#generated/prisma/client.ts'
import { sampled } from '../../../../../test/support/sampled.ts'
import { DIRECTIONS } from './list-order.ts'
import type { Listed, OrderedQuery } from './ordered-lists.ts'

const serverUrl = process.env.E2E_DATABASE_URL
const kind = serverUrl === undefined ? 'embedded' : 'server'

const NAMES = [
  'beta',
  'Alpha',
  'alpha',
  'ÉCOLE',
  'e\u0301cole 2',
  '100%',
  '100',
  'a_b',
  'axb',
  'a\\b',
  '🦊 fox',
  'ılık',
  'ΟΔΟΣ',
  'beta',
]

describe(kind, () => {
  let services: UserServices
  let admin: Principal
  let premium: Principal

  beforeAll(async () => {
    services = await openUserServices(serverUrl)
    admin = await services.join('admin', 'Root.Admin')
    premium = await services.join('premium', 'Zoë')
    for (const [index, name] of NAMES.entries()) await newKey(name, index)
  })
  afterAll(() => services?.database.close())

  async function newKey(name: string, index: number): Promise<string> {
    const { id } = await services.keyOf(admin, index % 3 === 0 ? { ownerId: premium.userId } : {})
    await services.keys.update(admin, id, { name })
    // Several keys have the same times, and some were never used.
    const at = (minutes: number) => new Date(Date.UTC(2030, 0, 1, 0, minutes))
    const lastUsedAt = index % 4 === 0 ? null : at(index % 3)
    // Counters of the current day and month, of former ones, and such that were reset; as texts, 9 would come after 10.
    const counted = BigInt([9, 10, 100, 0][index % 4] ?? 0)
    const start = new Date(index % 5 === 0 ? 0 : Date.UTC(2100, 0))
    const counters = {
      ...{ totalCalls: counted + 5n, totalBaseline: BigInt(index % 3) },
      ...{ dayCalls: counted, dayStart: start, dayBaseline: 0n, dayResetStart: start },
      ...{
        monthCalls: counted,
        monthStart: start,
        monthBaseline: counted,
        monthResetStart: index % 2 ? start : at(0),
      },
    }
    const expiresAt = at(index % 5)
    const data = { lastUsedAt, expiresAt, ...counters, ...(index % 6 === 5 && { revokedAt: at(0) }) }
    await services.database.prisma.apiKey.update({ where: { id }, data })
    return id
  }

  const list = (query: Partial<KeyListQuery>, filter?: KeyFilter, caller = admin) =>
    services.keys.list(caller, { take: 100, ...query }, filter)
  const namesFor = async (search: string, caller = admin) =>
    (await list({}, { search }, caller)).map(({ name }) => name).sort()

  /** Reads a list page by page, in both directions of reading. */
  async function pages<Row extends { id: string; cursor: string }, Field extends string>(
    read: (query: OrderedQuery<Field>) => Promise<Row[]>,
    size: number,
  ): Promise<string[]> {
    const ids: string[] = []
    for (let cursor: string | undefined; ; ) {
      const rows = await read({ take: size, cursor })
      const ahead = size > 0 ? rows : rows.toReversed()
      ids.push(...ahead.map(({ id }) => id))
      if (rows.length === 0) return size > 0 ? ids : ids.reverse()
      cursor = ahead.at(-1)?.cursor
    }
  }

  const ORDERS = (Object.keys(KEY_ORDERS) as KeyOrder[]).flatMap((orderBy) =>
    DIRECTIONS.map((order) => ({ orderBy, order })),
  )

  test.each(sampled(ORDERS))(
    'pages of keys by %o join to the whole list, forwards and backwards',
    async (order) => {
      for (const caller of [admin, premium]) {
        for (const filter of [{}, { search: 'a' }, { state: 'expired' as const }]) {
          const whole = (await list(order, filter, caller)).map(({ id }) => id)
          expect(new Set(whole).size).toBe(await services.keys.count(caller, filter))
          for (const size of [1, -3]) {
            const read = (query: OrderedQuery<KeyOrder>) => list({ ...query, ...order }, filter, caller)
            expect(await pages(read, size)).toEqual(whole)
          }
        }
      }
    },
  )

  test('rows have the order of the field and then of their ids, and those without a value come last', async () => {
    for (const order of DIRECTIONS) {
      const sign = order === 'asc' ? 1 : -1
      const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -sign : sign)
      const used = await list({ orderBy: 'last_used_at', order })
      const time = ({ lastUsedAt }: { lastUsedAt: Date | null }) => lastUsedAt?.getTime()
      const sorted = used.toSorted((one, other) => {
        const [mine, theirs] = [time(one), time(other)]
        if (mine === theirs) return byId(one, other)
        if (mine === undefined || theirs === undefined) return mine === undefined ? 1 : -1
        return (mine - theirs) * sign
      })
      expect(used.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id))
      const expiring = await list({ orderBy: 'expires_at', order })
      const times = expiring.map(({ expiresAt }) => expiresAt.getTime())
      expect(times).toEqual(times.toSorted((one, other) => (one - other) * sign))
      const ids = (await list({ order })).map(({ id }) => id)
      expect(ids).toEqual(order === 'asc' ? ids.toSorted() : ids.toSorted().reverse())
    }
    const named = (await list({ orderBy: 'name' })).map(({ name }) => name)
    expect(named.slice(0, 2)).toEqual(['100', '100%'])
    expect(named.filter((name) => /^(alpha|beta)$/i.test(name))).toEqual(['Alpha', 'alpha', 'beta', 'beta'])
  })

  test.each([
    ['calls_today', (key: ApiKey) => callsToday(key, services.runtime.now())],
    ['calls_this_month', (key: ApiKey) => callsThisMonth(key, services.runtime.now())],
    ['total_calls', totalCalls],
  ] as const)('keys by %s have the order of the numbers that are shown', async (orderBy, shown) => {
    const numbers = (await list({ orderBy })).map(shown)
    expect(new Set(numbers).size).toBeGreaterThan(2)
    expect(numbers).toEqual(numbers.toSorted((one, other) => other - one))
    expect((await list({ orderBy, order: 'asc' })).map(shown)).toEqual(numbers.toReversed())
  })

  test('active keys that expire before a time are found, and no others', async () => {
    const before = new Date(Date.UTC(2030, 0, 1, 0, 2))
    const all = await list({})
    const expected = all.filter(({ expiresAt, revokedAt }) => expiresAt < before && revokedAt === null)
    expect(expected.length).toBeGreaterThan(2)
    const found = await list({}, { expiresBefore: before.toISOString() })
    expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
    expect(await services.keys.count(admin, { expiresBefore: before })).toBe(expected.length)
    expect(await list({}, { expiresBefore: before, state: 'revoked' })).toEqual([])
    expect(await list({}, { expiresBefore: services.runtime.now() })).toEqual([])
    await expect(list({}, { expiresBefore: 'soon' })).rejects.toMatchObject({ field: ['expiresBefore'] })
  })

  test.each<[search: string, found: string[]]>([
    ['ALPHA', ['Alpha', 'alpha']],
    ['école', ['e\u0301cole 2', 'ÉCOLE']],
    ['100%', ['100%']],
    ['%', ['100%']],
    ['A_b', ['a_b']],
    ['\\', ['a\\b']],
    ['🦊', ['🦊 fox']],
    ['ıl', ['ılık']],
    ['οδοσ', ['ΟΔΟΣ']],
    ['ΟΔΟΣ', ['ΟΔΟΣ']],
    ["' OR true --", []],
    ['\0', []],
    ['\ud800', []],
    ['x'.repeat(100), []],
  ])('the search %j finds the keys with it in their names', async (search, found) => {
    expect(await namesFor(search)).toEqual(found)
    expect(await services.keys.count(admin, { search })).toBe(found.length)
  })

  test.each(['', ' ', '\t \n'])('the blank search %j selects all', async (search) => {
    expect(await namesFor(search)).toHaveLength(NAMES.length)
  })

  test('a key is found by its prefix, its id, and the username of its owner where the caller may see it', async () => {
    const [key] = await list({ take: 1 })
    const { id = '', prefix = '' } = key ?? {}
    for (const search of [id, id.toUpperCase(), id.slice(9, -4), prefix.toUpperCase()]) {
      expect((await list({}, { search })).map((found) => found.id)).toEqual([id])
    }
    const ofPremium = NAMES.filter((_, index) => index % 3 === 0).sort()
    expect(await namesFor('ZOË')).toEqual(ofPremium)
    expect(await namesFor('zoë', premium)).toEqual(ofPremium)
    // Its keys were created by an administrator, whose name is not for it to guess.
    expect(await namesFor('root.admin', premium)).toEqual([])
    const own = await services.keys.create(premium, {
      ...{ name: 'for root', description: '', permissions: ['chat'] },
      expiresAt: new Date(services.runtime.now().getTime() + 60_000).toISOString(),
    })
    await services.database.prisma.apiKey.update({
      where: { id: own.key.id },
      data: { ownerId: admin.userId },
    })
    // With a space, which no random prefix has.
    expect(await namesFor('for root', premium)).toEqual(['for root'])
    expect(await namesFor('root.admin', premium)).toEqual([])
    await services.database.prisma.apiKey.delete({ where: { id: own.key.id } })
  })

  test('rows that appear or change while a list is read neither hide nor repeat the others', async () => {
    const query = { orderBy: 'last_used_at' as const, take: 5 }
    const before = (await list({ ...query, take: 100 })).map(({ id }) => id)
    const first = await list(query)
    const last = first.at(-1)
    // The row at the cursor moves to the top, and a new one comes before and another after the place.
    const data = { lastUsedAt: new Date(Date.UTC(2031, 0)) }
    const change = { where: { id: last?.id ?? '' }, data }
    const { lastUsedAt } = await services.database.prisma.apiKey.findUniqueOrThrow({ where: change.where })
    await services.database.prisma.apiKey.update(change)
    const added = [await newKey('new', 2), await newKey('new', 4)]
    const seen = first.map(({ id }) => id)
    for (let cursor = last?.cursor; cursor !== undefined; ) {
      const rows = await list({ ...query, cursor })
      seen.push(...rows.map(({ id }) => id))
      cursor = rows.at(-1)?.cursor
    }
    expect(seen.filter((id) => before.includes(id))).toEqual(before)
    expect(new Set(seen).size).toBe(seen.length)
    await services.database.prisma.apiKey.update({ ...change, data: { lastUsedAt } })
    await services.database.prisma.apiKey.deleteMany({ where: { id: { in: added } } })
  })

  test('a cursor is refused in a list by another field, and works with another filter or direction', async () => {
    const [first] = await list({ orderBy: 'name', take: 1 })
    const cursor = first?.cursor ?? ''
    for (const orderBy of ['created_at', 'last_used_at', 'expires_at'] as const) {
      await expect(list({ orderBy, cursor })).rejects.toMatchObject({ field: ['cursor'] })
    }
    const [newest] = await list({ take: 1 })
    await expect(list({ orderBy: 'name', cursor: newest?.cursor })).rejects.toMatchObject({
      field: ['cursor'],
    })
    expect(await list({ orderBy: 'name', cursor, order: 'desc' })).toEqual([])
    const rest = await list({ orderBy: 'name', cursor }, { search: 'alpha' })
    expect(rest.map(({ name }) => name)).toEqual(['Alpha', 'alpha'])
  })

  test('a list that is read in slices is the one that a single statement reads', async () => {
    const { database, runtime } = services
    const rules = {
      catalog: { knownIds: () => new Set<string>() },
      limits: { chat: { points: 60, windowSeconds: 60 }, upload: { points: 10, windowSeconds: 60 } },
      ...{ maxLifetimeDays: 3_650, activePerUserMax: 1_000, createdPerDayMax: 1_000 },
    }
    const readsWith = (slices: Slices | undefined): Reads => ({
      inTurn: (_asking, read) => read(slices),
      requirePlace: () => undefined,
    })
    const keysWith = (slices: Slices | undefined) =>
      createKeys({ ...services, ...database, runtime, rules, reads: readsWith(slices) })
    const [whole, sliced] = [keysWith(undefined), keysWith({ run: (statement) => statement(3) })]
    const filters = [{ search: 'a' }, { state: 'active' as const }, { search: 'no such name' }]
    const lists = ORDERS.flatMap((order) =>
      filters.flatMap((filter) => [2, 5, 100, -2, -5].map((take) => ({ query: { take, ...order }, filter }))),
    )
    for (const { query, filter } of sampled(lists)) {
      const found = await whole.list(admin, query, filter)
      expect(await sliced.list(admin, query, filter)).toEqual(found)
      const next = { ...query, cursor: found.at(query.take > 0 ? -1 : 0)?.cursor }
      expect(await sliced.list(admin, next, filter)).toEqual(await whole.list(admin, next, filter))
    }
    for (const filter of filters) {
      expect(await sliced.count(admin, filter)).toBe(await whole.count(admin, filter))
    }
  })

  test.each([
    ['too few parts', '["name","a"]'],
    ['a number', '["name",1,"019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10"]'],
    ['a NUL', '["name","\\u0000","019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10"]'],
    ['half a character', '["name","\\ud800","019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10"]'],
    ['no id', '["name","a","no id"]'],
    ['an id in capitals', '["name","a","019A9F3E-7C00-7D2E-9A55-3C1F0B6F7A10"]'],
    ['spaces', '["name", "a", "019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10"]'],
    ['an escape', '["name","\\u0061","019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10"]'],
    ['an object', '{"name":"a"}'],
    ['no JSON', 'no JSON'],
    ['a long text', `["name","${'a'.repeat(2_000)}","019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10"]`],
  ])('a forged cursor with %s is refused', async (_what, text) => {
    const cursor = Buffer.from(text).toString('base64url')
    await expect(list({ orderBy: 'name', cursor })).rejects.toMatchObject({ field: ['cursor'] })
    const time = text.replace('"name"', '"expires_at"')
    const ofTime = Buffer.from(time).toString('base64url')
    await expect(list({ orderBy: 'expires_at', cursor: ofTime })).rejects.toMatchObject({ field: ['cursor'] })
  })

  test.each([
    ['a day that no month has', '2026-02-30T00:00:00.000Z'],
    ['the year 0, which PostgreSQL does not know', '0000-01-01T00:00:00.000Z'],
    ['an hour that no day has', '2026-01-01T24:00:00.000Z'],
    ['no fraction', '2026-01-01T00:00:00Z'],
    ['another zone', '2026-01-01T00:00:00.000+00:00'],
    ['six digits of a year', '+012026-01-01T00:00:00.000Z'],
  ])('a forged cursor whose time has %s is refused', async (_what, time) => {
    const parts = ['expires_at', time, '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10']
    const cursor = Buffer.from(JSON.stringify(parts)).toString('base64url')
    await expect(list({ orderBy: 'expires_at', cursor })).rejects.toMatchObject({ field: ['cursor'] })
  })

  test.each(['-1', '01', '1.5', '', '9007199254740993', '99999999999999999999'])(
    'a forged cursor whose count is %j is refused',
    async (count) => {
      const parts = ['total_calls', count, '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10']
      const cursor = Buffer.from(JSON.stringify(parts)).toString('base64url')
      await expect(list({ orderBy: 'total_calls', cursor })).rejects.toMatchObject({ field: ['cursor'] })
    },
  )

  test('a forged cursor without the text that every row has is refused', async () => {
    const parts = ['name', null, '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10']
    const cursor = Buffer.from(JSON.stringify(parts)).toString('base64url')
    await expect(list({ orderBy: 'name', cursor })).rejects.toMatchObject({ field: ['cursor'] })
  })

  test('a search that is too long and words that do not exist are refused by their fields', async () => {
    await expect(list({}, { search: 'x'.repeat(101) })).rejects.toMatchObject({ field: ['search'] })
    await expect(list({}, { state: 'gone' as never })).rejects.toMatchObject({ field: ['state'] })
    await expect(list({ orderBy: 'hash' as never })).rejects.toMatchObject({ field: ['orderBy'] })
    await expect(list({ order: 'up' as never })).rejects.toMatchObject({ field: ['order'] })
    const { users } = services
    await expect(users.list(admin, { take: 1 }, { search: 'x'.repeat(101) })).rejects.toMatchObject({
      field: ['search'],
    })
    await expect(users.count(admin, { state: 'gone' as never })).rejects.toMatchObject({ field: ['state'] })
  })

  describe('users', () => {
    const usersBy = async (query: Partial<OrderedQuery<UserOrder>>, filter = {}) =>
      services.users.list(admin, { take: 100, ...query }, filter)
    const usernames = (users: readonly Listed<{ username: string }>[]) =>
      users.map(({ username }) => username)

    beforeAll(async () => {
      for (const [index, name] of ['anna', 'Bob', 'carl', 'dora'].entries()) {
        const { userId: id } = await services.join('user', name)
        const lastLogin = index < 2 ? new Date(Date.UTC(2026, 0)) : null
        const status = index === 1 ? ('suspended' as const) : ('active' as const)
        // All, most, and none of the quota, which carl has used in a former month alone, and no quota at all.
        const quota = [
          { maxApiCalls: 10n, apiCallsCount: 10n },
          { maxApiCalls: 1_000n, apiCallsCount: 899n },
          { maxApiCalls: 10n, apiCallsCount: 10n, quotaPeriod: 'month', quotaStart: new Date(0) },
          { maxApiCalls: 0n, apiCallsCount: 0n },
        ][index]
        await services.database.prisma.user.update({ where: { id }, data: { lastLogin, status, ...quota } })
      }
    })

    test('are searched by username and id, and selected by state', async () => {
      expect(usernames(await usersBy({}, { search: 'ZOË' }))).toEqual(['Zoë'])
      expect(usernames(await usersBy({}, { search: admin.userId.slice(10) }))).toEqual(['Root.Admin'])
      expect(usernames(await usersBy({}, { state: 'suspended' }))).toEqual(['Bob'])
      expect(usernames(await usersBy({}, { state: 'active', search: 'o' }))).toEqual([
        'dora',
        'Zoë',
        'Root.Admin',
      ])
      expect(await services.users.count(admin, { state: 'active', search: 'o' })).toBe(3)
      expect(await services.users.count(admin, { search: '_' })).toBe(0)
    })

    test('are selected by their roles and the share of their quota that is used, and ordered by both', async () => {
      const found = async (filter: UserFilter) =>
        usernames(await usersBy({ orderBy: 'username' }, filter)).join()
      expect(await found({ quotaPercentMin: 100 })).toBe('anna,dora')
      expect(await found({ quotaPercentMin: 90 })).toBe('anna,dora')
      expect(await found({ quotaPercentMin: 89 })).toBe('anna,Bob,dora')
      expect(await found({ quotaPercentMin: 89, state: 'suspended' })).toBe('Bob')
      expect(await found({ quotaPercentMin: 0 })).toBe('anna,Bob,carl,dora,Root.Admin,Zoë')
      expect(await found({ role: 'premium' })).toBe('Zoë')
      expect(await found({ role: 'user', search: 'ann' })).toBe('anna')
      const byUse = usernames(await usersBy({ orderBy: 'quota_used' }))
      expect([byUse.slice(0, 2).sort(), byUse[2]]).toEqual([['anna', 'dora'], 'Bob'])
      expect(usernames(await usersBy({ orderBy: 'api_calls_count' })).slice(0, 2)).toEqual(['Bob', 'anna'])
      for (const percent of [-1, 101, 1.5, Number.NaN]) {
        const refused = services.users.count(admin, { quotaPercentMin: percent })
        await expect(refused).rejects.toMatchObject({ field: ['quotaPercentMin'] })
      }
    })

    test('are ordered without regard to case, and those who never logged in come last', async () => {
      const byName = ['anna', 'Bob', 'carl', 'dora', 'Root.Admin', 'Zoë']
      expect(usernames(await usersBy({ orderBy: 'username' }))).toEqual(byName)
      expect(usernames(await usersBy({ orderBy: 'username', order: 'desc' }))).toEqual(byName.toReversed())
      for (const order of DIRECTIONS) {
        const users = await usersBy({ orderBy: 'last_login', order })
        expect(users.slice(2).map(({ lastLogin }) => lastLogin)).toEqual(Array(4).fill(null))
      }
    })

    const USER_LISTS = (Object.keys(USER_ORDERS) as UserOrder[]).flatMap((orderBy) =>
      DIRECTIONS.flatMap((order) => [1, -1, 4, -4].map((size) => ({ orderBy, order, size }))),
    )
    test.each(sampled(USER_LISTS))(
      'pages of users by %o join to the whole list',
      async ({ size, ...order }) => {
        const whole = await usersBy(order)
        const read = (query: OrderedQuery<UserOrder>) => usersBy({ ...query, ...order })
        expect(await pages(read, size)).toEqual(whole.map(({ id }) => id))
      },
    )
  })
})
