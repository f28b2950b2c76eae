import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cursorOf } from '#core/lists/list-order.ts'
import { type CallerName, FAILING_AGENT, PASSWORD } from '#test/authorization/callers.test-support.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'

let face: Face

const OWNERS = 30
const KEYS_EACH = 4
/** Of the premium user, which has uploads of each. */
let premiumKeys: readonly string[]
/** In the middle of each list, also of those that do not contain it. */
let cursor: string

beforeAll(async () => {
  face = await openFace()
  const { ownerId } = face.callers.premium
  const owners = await Promise.all(Array.from({ length: OWNERS }, () => newUser()))
  const keys: string[] = []
  for (let round = 0; round < KEYS_EACH; round += 1) {
    for (const owner of owners) keys.push(await face.newKey(owner))
    if (round === 1) cursor = await face.newKey(ownerId)
  }
  const ofOwners = owners.map((owner, index) => callOf(owner, keys[index] ?? ''))
  await face.gateway.prisma.call.createMany({ data: ofOwners })
  // Half of the keys of each owner are revoked.
  for (const id of keys.filter((_, n) => (n + Math.floor(n / OWNERS)) % 2 === 0))
    await run('admin', `mutation { revokeApiKey(input: { keyId: "${id}" }) { __typename } }`)
  premiumKeys = await Promise.all(Array.from({ length: OWNERS }, () => face.newKey(ownerId)))
  for (let n = 0; n < 3; n += 1) {
    await face.gateway.prisma.call.createMany({ data: premiumKeys.map((keyId) => callOf(ownerId, keyId)) })
    await face.gateway.prisma.upload.createMany({
      data: premiumKeys.map((keyId) => uploadOf(ownerId, keyId)),
    })
  }
})
afterAll(() => face?.close())

async function newUser(): Promise<string> {
  const input = { username: `u-${v7()}`, password: PASSWORD }
  const document = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { user { id } } }'
  return (await run('admin', document, { input })).createUser.user.id
}

function callOf(ownerId: string, keyId: string) {
  const made = { requestId: 'r', kind: 'chat', face: 'rest', agent: FAILING_AGENT } as const
  return { id: v7(), ...made, ownerId, keyId, instance: v7(), admittedAt: new Date() }
}

function uploadOf(ownerId: string, keyId: string) {
  const file = { urlName: 'file.txt', filename: 'file.txt', mediaType: 'text/plain', size: 1n, sha256: '' }
  const times = { createdAt: new Date(), expiresAt: new Date(Date.now() + 3_600_000) }
  return { id: v7(), callId: v7(), token: v7(), ...file, ownerId, keyId, createdBy: 'test', ...times }
}

async function run(as: CallerName, document: string, variables?: object): Promise<Any> {
  const { data, errors } = await face.query(as, document, variables)
  expect(errors).toBeUndefined()
  return data
}

const PAGE = `totalCount nodes { id name } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`
const pages = () => {
  const place = cursorOf('created_at', { id: cursor })
  return ['first: 1', 'first: 3', 'last: 2', `first: 2, after: "${place}"`, `last: 1, before: "${place}"`]
}

describe('the lists in a list are those that each item has alone', () => {
  test.each([
    ['all', ''],
    ['active', 'state: ACTIVE,'],
    ['revoked', 'state: REVOKED,'],
    ['found', 'search: "KEY",'],
  ])('%s keys of users', async (_name, active) => {
    for (const page of pages()) {
      const args = `(${active} ${page})`
      const { users } = await run(
        'admin',
        `{ users(first: 100) { nodes { id apiKeys${args} { ${PAGE} } } } }`,
      )
      expect(users.nodes.length).toBeGreaterThan(OWNERS)
      const seen = users.nodes.filter((user: Any) => user.apiKeys.nodes.length > 0)
      expect(seen.length).toBeGreaterThan(OWNERS / 2)
      for (const { id, apiKeys } of users.nodes.slice(0, 8)) {
        const { user } = await run('admin', `{ user(id: "${id}") { apiKeys${args} { ${PAGE} } } }`)
        expect(apiKeys).toEqual(user.apiKeys)
      }
    }
  })

  test.each(['premium', 'admin'] as const)('uploads of keys, as %s', async (as) => {
    const UPLOADS = `totalCount nodes { id filename } pageInfo { hasNextPage hasPreviousPage }`
    for (const page of ['first: 2', 'last: 1']) {
      const { apiKeys } = await run(
        as,
        `{ apiKeys(first: 100) { nodes { id uploads(${page}) { ${UPLOADS} } } } }`,
      )
      for (const { id, uploads } of apiKeys.nodes.slice(0, 40)) {
        const { apiKey } = await run(as, `{ apiKey(id: "${id}") { uploads(${page}) { ${UPLOADS} } } }`)
        expect(uploads).toEqual(apiKey.uploads)
        // An administrator sees the keys of others, but not their uploads.
        if (premiumKeys.includes(id)) expect(uploads.totalCount).toBe(as === 'admin' ? 0 : 3)
      }
    }
  })

  test.each(['premium', 'admin'] as const)('calls of keys and of users, as %s', async (as) => {
    const CALLS = `nodes { id key { id } } pageInfo { hasNextPage endCursor }`
    const { apiKeys } = await run(as, `{ apiKeys(first: 100) { nodes { id calls(first: 2) { ${CALLS} } } } }`)
    expect(apiKeys.nodes.length).toBeGreaterThan(OWNERS)
    for (const { id, calls } of apiKeys.nodes.slice(0, 10)) {
      const alone = await run(as, `{ calls(filter: { keyId: "${id}" }, first: 2) { ${CALLS} } }`)
      expect(calls).toEqual(alone.calls)
      const { hasNextPage, endCursor } = calls.pageInfo
      if (!hasNextPage) continue
      const rest = await run(
        as,
        `{ apiKey(id: "${id}") { calls(after: "${endCursor}") { totalCount ${CALLS} } } }`,
      )
      expect(rest.apiKey.calls).toMatchObject({ totalCount: null, nodes: { length: 1 } })
    }
    const { me } = await run(as, `{ me { id calls(first: 5) { ${CALLS} } } }`)
    const alone = await run(as, `{ calls(filter: { ownerId: "${me.id}" }, first: 5) { ${CALLS} } }`)
    expect(me.calls).toEqual(alone.calls)
  })
})

test.each<[name: string, CallerName, (items: number) => string, statements: number]>([
  // The credential (2), the users, and of their keys the ids, the rows and the counts.
  [
    'keys of users',
    'admin',
    (n) => `users(first: ${n}) { nodes { apiKeys(first: 2) { totalCount nodes { name } } } }`,
    6,
  ],
  // The credential (2), the keys, and of their uploads the ids, the rows and the counts.
  [
    'uploads of keys',
    'premium',
    (n) => `apiKeys(first: ${n}) { nodes { uploads(first: 2) { totalCount nodes { filename } } } }`,
    6,
  ],
  // The credential (2), the keys, and of their calls the ids and the rows.
  [
    'calls of keys',
    'premium',
    (n) => `apiKeys(first: ${n}) { nodes { calls(first: 2) { nodes { outcome } } } }`,
    5,
  ],
  [
    'calls of users',
    'admin',
    (n) => `users(first: ${n}) { nodes { calls(first: 2) { nodes { outcome } } } }`,
    5,
  ],
  // The credential (2) and the users: no one but the owner sees uploads.
  [
    'uploads of other users',
    'admin',
    (n) => `users(first: ${n}) { nodes { uploads { totalCount nodes { filename } } } }`,
    3,
  ],
])('%s take as many statements for 30 parents as for two', async (_name, as, document, count) => {
  expect(await face.statementsOf(() => run(as, `{ ${document(2)} }`))).toBe(count)
  expect(await face.statementsOf(() => run(as, `{ ${document(30)} }`))).toBe(count)
})
