import { v7 } from 'uuid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countRefusals, insertRefusal } from '#core/reports/refusals/refusals.test-support.ts'
import { type CallerName, REFUSING_LIMIT } from '#test/authorization/callers.test-support.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'

/* The lists of refusals, of the audit log and of processes. What each caller sees of them is in test/authorization. */

let face: Face

beforeAll(async () => {
  face = await openFace()
})
afterAll(() => face?.close())

const itemsOf = async (path: string, as: CallerName = 'admin'): Promise<Any[]> =>
  (await face.get(as, path)).json().data.items

test('refused requests have their records, and their CSV has the same in every row', async () => {
  const requestId = `=${v7()}`
  const ownerId = face.callers.premium.ownerId
  const reached = { points: 60, windowSeconds: 10, of: 'key' } as const
  await insertRefusal(face.database.sql, { ownerId, requestId, agent: 'other', field: 'body.query', reached })
  await insertRefusal(face.database.sql, { ownerId, requestId, reason: 'unavailable', limit: 'database' })
  const query = `request_id=${encodeURIComponent(requestId)}`
  const items = await itemsOf(`/api/v1/refusals?${query}`, 'premium')
  expect(items.map(({ reason, limit, field }) => [reason, limit, field])).toEqual([
    ['unavailable', 'database', null],
    ['rate_limited', 'chat', 'body.query'],
  ])
  expect(items[1]).toMatchObject({
    key_id: null,
    owner_id: ownerId,
    face: 'rest',
    agent: 'other',
    status: 429,
    limit_points: 60,
    limit_window_seconds: 10,
    limit_of: 'key',
  })
  const { headers, body } = await face.get('premium', `/api/v1/refusals?format=csv&${query}`)
  expect(headers['content-type']).toBe('text/csv; charset=utf-8')
  const [head, ...lines] = body.trimEnd().split('\r\n')
  expect(head?.split(',')).toEqual(Object.keys(items[0]))
  // Spreadsheets would evaluate it.
  const cells = items.map((item) =>
    Object.values({ ...item, request_id: `'${requestId}` }).map((value) => String(value ?? '')),
  )
  expect(lines.map((line) => line.split(','))).toEqual(cells)
})

test('pages of refusals and of the audit log continue without a gap or a repetition', async () => {
  for (const list of [`refusals?limit_name=${encodeURIComponent(REFUSING_LIMIT)}&`, 'audit?target=user&']) {
    const all = await itemsOf(`/api/v1/${list}limit=100`)
    const seen: Any[] = []
    for (let cursor = ''; ; ) {
      const { data } = (await face.get('admin', `/api/v1/${list}limit=2${cursor}`)).json()
      seen.push(...data.items)
      if (data.next_cursor === null) break
      cursor = `&cursor=${data.next_cursor}`
    }
    expect(all.length).toBeGreaterThan(3)
    expect(seen).toEqual(all)
  }
})

test('counts of refusals are in buckets, and their CSV has the same', async () => {
  const at = new Date('2026-11-20T12:34:00Z')
  await countRefusals(face.database.sql, 5, { at, reason: 'key_unknown', limit: '' })
  const path = '/api/v1/refusals/counts?from=2026-11-20&to=2026-11-21&reason=key_unknown'
  const start = '2026-11-20T12:00:00.000Z'
  const expected = {
    start,
    key_id: null,
    owner_id: null,
    agent: '',
    reason: 'key_unknown',
    limit: '',
    count: 5,
  }
  expect(await itemsOf(path)).toEqual([expected])
  expect(await itemsOf(path, 'premium')).toEqual([])
  const { body } = await face.get('admin', `${path}&format=csv`)
  expect(body).toBe(`${Object.keys(expected).join()}\r\n${start},,,,key_unknown,,5\r\n`)
})

test('the audit log shows states as objects, and its CSV as the texts that were hashed', async () => {
  const operation = `users.${v7()}`
  const after = '{"role":  "admin"}'
  await face.database.sql.query('SELECT audit_append($1::jsonb)', [
    JSON.stringify({ operation, actor: 'token', after, target: 'user' }),
  ])
  const [event, ...others] = await itemsOf(`/api/v1/audit?operation=${operation}`)
  expect(others).toEqual([])
  expect(event).toMatchObject({ format: 1, result: 'done', before: null, after: { role: 'admin' }, count: 1 })
  expect(event.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  expect(event.hash).toMatch(/^[0-9a-f]{64}$/)
  const { body } = await face.get('admin', `/api/v1/audit?format=csv&operation=${operation}`)
  const [head, line] = body.split('\r\n')
  expect(head).toBe(Object.keys(event).join())
  expect(line).toContain(`"${after.replaceAll('"', '""')}"`)
})

test('a process shows that it lives', async () => {
  const processes = await itemsOf('/api/v1/processes?state=live')
  expect(processes).toEqual([expect.objectContaining({ state: 'live', pid: process.pid, stopped_at: null })])
  expect(await itemsOf('/api/v1/processes?state=ended')).toEqual([])
})

test.each([
  ['refusals', 'reason=rate_limitted', 'query.reason'],
  ['refusals', 'agent=difi', 'query.agent'],
  ['refusals', 'limit_name=%00', 'query.limit_name'],
  ['refusals', 'request_id=%0a', 'query.request_id'],
  ['refusals', 'cursor=bad', 'query.cursor'],
  ['refusals', 'limit=chat', 'query.limit'],
  ['refusals/counts', 'per=week', 'query.per'],
  ['refusals/counts', 'per=minute&from=2026-11-20&to=2026-11-22', 'query.from'],
  ['refusals/counts', 'from=1990-01-01', 'query.from'],
  ['refusals/counts', 'request_id=a', 'query.request_id'],
  ['audit', 'user_id=me', 'query.user_id'],
  ['audit', 'result=lost', 'query.result'],
  ['audit', 'target_id=%00', 'query.target_id'],
  ['audit', 'cursor=bad', 'query.cursor'],
  ['processes', 'state=dead', 'query.state'],
])('%s?%s is rejected at %s', async (list, query, field) => {
  // Pages have cursors, and CSV has no pages.
  const hasCsv = list !== 'processes' && !query.startsWith('cursor')
  for (const format of hasCsv ? ['', '&format=csv'] : ['']) {
    const reply = await face.get('admin', `/api/v1/${list}?${query}${format}`)
    const { reason, detail } = reply.json()
    expect([reply.statusCode, reason, detail]).toEqual([
      400,
      'invalid_request',
      expect.stringMatching(new RegExp(`^${field}: `)),
    ])
  }
})

test.each([
  ['refusals', 'calls'],
  ['refusals?format=csv', 'calls'],
  ['refusals/counts', 'reports'],
  ['audit', 'calls'],
  ['audit?format=csv', 'calls'],
  ['processes', 'reads'],
])(
  '%s takes a point of the limit "%s", which its response shows, and is not stored',
  async (list, policy) => {
    const { headers, statusCode } = await face.get('admin', `/api/v1/${list}`)
    expect(statusCode).toBe(200)
    expect(headers.ratelimit).toMatch(new RegExp(`^"${policy}";r=\\d+;t=\\d+$`))
    expect(headers['cache-control']).toBe('no-store')
  },
)
