import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Face, openFace } from './graphql/face.test-support.ts'

/*
 * During an upgrade two versions share a database. The older one must read whatever the newer one has written, also words that
 * it does not know.
 */

const CALL = '01999999-0000-7000-8000-000000000001'

let face: Face

beforeAll(async () => {
  face = await openFace()
  const { sql } = face.database
  const keyId = '01999999-0000-7000-8000-000000000002'
  const ownerId = '01999999-0000-7000-8000-000000000003'
  await sql.query(
    `INSERT INTO users (id, username, username_key, password_hash, role, status, quota_period, max_api_calls, created_at, updated_at)
    VALUES ($1::uuid, 'newcomer', 'newcomer', '', 'auditor', 'dormant', 'week', 10, now(), now())`,
    [ownerId],
  )
  await sql.query(
    `INSERT INTO api_keys (id, hash, prefix, name, name_key, description, permissions, owner_id, created_by_id, created_at, expires_at)
    VALUES ($1::uuid, 'x', 'tl_new', 'new', 'new', '', '{chat, search}', $2::uuid, $2::uuid, now(), now() + interval '1 day')`,
    [keyId, ownerId],
  )
  await sql.query(
    `INSERT INTO calls (id, request_id, key_id, owner_id, kind, face, agent, instance, outcome, reason, admitted_at, ended_at)
    VALUES ($1::uuid, 'unknown-words', $2::uuid, $3::uuid, 'search', 'mcp', 'dify', gen_random_uuid(), 'parked', 'out_of_patience', now(), now())`,
    [CALL, keyId, ownerId],
  )
  await sql.query(
    `INSERT INTO rollups (span, grain, bucket, kind, agent, app, model, outcome,
      calls, token_calls, prompt_tokens, completion_tokens, total_tokens, first_chunk, duration)
    SELECT span, 'all', date_trunc(span::text, now(), 'UTC'), 'search', 'dify', '', '', 'parked', 1, 0, 0, 0, 0, '{}', '{}'
    FROM unnest('{hour, day, month}'::rollup_span[]) AS s(span)`,
  )
})
afterAll(() => face.close())

test('REST passes words of the ledger that it does not know, in lists and in CSV', async () => {
  const call = { id: CALL, kind: 'search', face: 'mcp', outcome: 'parked', reason: 'out_of_patience' }
  expect((await face.get('admin', '/api/v1/calls?request_id=unknown-words')).json().data).toMatchObject({
    items: [call],
  })
  expect((await face.get('admin', '/api/v1/calls?format=csv')).body).toContain(',parked,out_of_patience,')
})

test('REST groups a report by an outcome that it does not know, and does not take it for a failure', async () => {
  const { data } = (await face.get('admin', '/api/v1/usage?group_by=outcome')).json()
  const parked = data.groups.filter(({ group }: { group: object }) =>
    JSON.stringify(group).includes('parked'),
  )
  expect(parked).toMatchObject([{ group: { outcome: 'parked' }, totals: { calls: 1, failed_calls: 0 } }])
})

test('GraphQL shows words of the ledger that it does not know as OTHER, and such a reason as null', async () => {
  const fields = 'kind face outcome reason'
  const result = await face.query(
    'admin',
    `query ($id: ID!) {
      call(id: $id) { ${fields} }
      calls(first: 5, filter: { requestId: "unknown-words" }) { nodes { ${fields} } }
      usage(groupBy: [OUTCOME]) { groups { outcome } }
    }`,
    { id: CALL },
  )
  const call = { kind: 'OTHER', face: 'OTHER', outcome: 'OTHER', reason: null }
  expect(result.errors).toBeUndefined()
  expect(result.data).toMatchObject({ call, calls: { nodes: [call] } })
  expect(result.data.usage.groups).toContainEqual({ outcome: 'OTHER' })
})

test('a user with words of a newer version is shown as this version treats it: with the fewest rights', async () => {
  const user = { username: 'newcomer', role: 'user', status: 'suspended', quota_period: 'none' }
  expect((await face.get('admin', '/api/v1/users?search=newcomer')).json().data.items).toMatchObject([user])
  const { data, errors } = await face.query(
    'admin',
    '{ users(first: 1, search: "newcomer") { nodes { role status quotaPeriod quota { quotaPeriod } } } }',
  )
  expect(errors).toBeUndefined()
  expect(data.users.nodes).toEqual([
    { role: 'USER', status: 'SUSPENDED', quotaPeriod: 'NONE', quota: { quotaPeriod: 'NONE' } },
  ])
})

test('a permission that only a newer version knows is left out of a key', async () => {
  const { items } = (await face.get('admin', '/api/v1/api-keys?search=tl_new')).json().data
  expect(items).toMatchObject([{ permissions: ['chat'] }])
})
