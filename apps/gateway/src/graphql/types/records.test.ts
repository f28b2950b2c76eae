import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CallerName } from '#test/authorization/callers.test-support.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'

/* What REST shows of an object, GraphQL shows as well: the selection is made of the fields of REST's record. */

let face: Face

beforeAll(async () => {
  face = await openFace()
})
afterAll(() => face?.close())

/** Fields of REST that have another name in GraphQL, beside the case. */
const KEY_NAMES = { created_by: 'createdById' }
const UPLOAD_NAMES = { user: 'endUser' }
/** Enums, which GraphQL writes in capitals. */
const ENUMS = new Set(['role', 'status', 'quota_period', 'permissions', 'state'])

test.each<[string, CallerName, string, string, Record<string, string>]>([
  ['a user', 'premium', '/api/v1/users/me', 'me', {}],
  ['an API key', 'premium', '/api/v1/api-keys/KEY', 'apiKey(id: "KEY")', KEY_NAMES],
  ['an upload', 'premium', '/api/v1/uploads/UPLOAD', 'upload(id: "UPLOAD")', UPLOAD_NAMES],
])('%s has the same fields over GraphQL as over REST', async (_what, as, path, field, names) => {
  const ids = { KEY: await face.newKey(ownerId()), UPLOAD: await face.newUpload(ownerId()) }
  const withIds = (text: string) => text.replace('KEY', ids.KEY).replace('UPLOAD', ids.UPLOAD)
  const record = (await face.get(as, withIds(path))).json().data
  const { data, errors } = await face.query(as, `{ record: ${withIds(field)} ${selectionOf(record, names)} }`)
  expect(errors).toBeUndefined()
  expect(data.record).toEqual(inGraphql(record, names))
})

test('the agents have the same fields over GraphQL as over REST', async () => {
  const records = (await face.get('premium', '/api/v1/agents')).json().data.items
  const { data } = await face.query('premium', `{ agents ${selectionOf(records[0], {})} }`)
  expect(data.agents).toEqual(records.map((record: Any) => inGraphql(record, {})))
})

test('the API key of a request has the same fields over GraphQL as over REST', async () => {
  const { rate_limits, quota, ...record } = (await face.get('chat key', '/api/v1/key')).json().data
  const { data } = await face.query(
    'chat key',
    `{ currentApiKey {
      apiKey ${selectionOf(record, KEY_NAMES)} rateLimits ${selectionOf(rate_limits, {})} quota ${selectionOf(quota, {})} } }`,
  )
  expect(data.currentApiKey).toEqual({
    apiKey: inGraphql(record, KEY_NAMES),
    rateLimits: inGraphql(rate_limits, {}),
    quota: inGraphql(quota, {}),
  })
})

test('the record of an API key has the rate limits that hold for it, also for its owner', async () => {
  const { id, rate_limits } = (await face.get('chat key', '/api/v1/key')).json().data
  const { data } = await face.query(
    'admin',
    `{ apiKey(id: "${id}") { rateLimits ${selectionOf(rate_limits, {})} } }`,
  )
  expect(data.apiKey.rateLimits).toEqual(inGraphql(rate_limits, {}))
})

test.each([
  ['apiKeys', '/api/v1/api-keys'],
  ['uploads', '/api/v1/uploads'],
])('%s are in the same order over GraphQL as over REST, page by page', async (field, path) => {
  for (let count = 0; count < 3; count += 1) {
    await face.newKey(ownerId())
    await face.newUpload(ownerId())
  }
  const idsOf = (items: Any[]) => items.map(({ id }) => id)
  const first = (await face.get('premium', `${path}?limit=2`)).json().data
  const second = (await face.get('premium', `${path}?limit=2&cursor=${first.next_cursor}`)).json().data
  const page = `query ($after: String) { page: ${field}(first: 2, after: $after) {
    nodes { id } pageInfo { endCursor } } }`
  const { data: one } = await face.query('premium', page)
  const { data: two } = await face.query('premium', page, { after: one.page.pageInfo.endCursor })
  expect([idsOf(one.page.nodes), idsOf(two.page.nodes)]).toEqual([idsOf(first.items), idsOf(second.items)])
})

function ownerId(): string {
  return face.callers.premium.ownerId
}

function nameOf(field: string, names: Record<string, string>): string {
  return names[field] ?? field.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}

function selectionOf(record: Any, names: Record<string, string>): string {
  const fields = Object.entries(record).map(([field, value]) => {
    const [inner] = Array.isArray(value) ? value : [value]
    const isObject = typeof inner === 'object' && inner !== null
    return `${nameOf(field, names)}${isObject ? ` ${selectionOf(inner, {})}` : emptyList(field)}`
  })
  return `{ ${fields.join(' ')} }`
}

/** The apps of an agent without any are an empty list, which does not show that its items have fields. */
function emptyList(field: string): string {
  return field === 'apps' ? ' { appId name }' : ''
}

function inGraphql(record: Any, names: Record<string, string>): Any {
  if (Array.isArray(record)) return record.map((item) => inGraphql(item, names))
  if (typeof record !== 'object' || record === null) return record
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [
      nameOf(field, names),
      ENUMS.has(field) ? inCapitals(value) : inGraphql(value, {}),
    ]),
  )
}

function inCapitals(value: Any): Any {
  return Array.isArray(value) ? value.map(inCapitals) : value.toUpperCase()
}
