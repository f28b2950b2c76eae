import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { BOUNDED_MAX } from '#core/audit/audit.ts'
import { auditEventsOf } from '#core/database/table-rows.test-support.ts'
import { ampleLimits, limitsOf } from '#core/limits/limits.test-support.ts'
import { createReads } from '#core/limits/sharing/reads.ts'
import { drained } from '#core/lists/all-rows.test-support.ts'
import type { Principal } from '#core/requests/principal.ts'
import { type AuditLog, type AuditLogDeps, type AuditTasks, createAuditLog } from './audit-log.ts'
import type { AuditInput } from './audit-query.ts'
import { requireEventNumber } from './audit-query.ts'

let services: UserServices
let admin: Principal
let user: Principal

function logOn(kind: 'embedded' | 'server', deps: Partial<AuditLogDeps> = {}): AuditLog & AuditTasks {
  return createAuditLog({
    database: services.database,
    limits: ampleLimits(),
    reads: createReads(kind),
    audit: services.audit,
    ...deps,
  })
}

/** Adds an event to the chain and returns its number. */
async function append(event: object = {}): Promise<number> {
  const [row] = await services.database.sql.query<{ n: number }>('SELECT audit_append($1::jsonb) AS n', [
    JSON.stringify({ operation: 'a.test', actor: 'gateway', ...event }),
  ])
  return row?.n ?? 0
}

/** Adds many events; they are not chained, which takes longer. */
async function addMany(operation: string, count: number): Promise<void> {
  await append()
  await services.database.sql.query(
    `INSERT INTO audit_events (n, format, at, operation, result, actor, hash)
     SELECT head.n + i, 1, now(), $1, 'done', 'gateway', '' FROM audit_head AS head, generate_series(1, $2::int) AS i`,
    [operation, count],
  )
  await services.database.sql.query('UPDATE audit_head SET n = n + $1', [count])
}

beforeAll(async () => {
  services = await openUserServices()
  admin = await services.join('admin')
  user = await services.join('premium')
})
afterAll(() => services.database.close())

describe.each(['embedded', 'server'] as const)('%s', (kind) => {
  test('events come newest first, and pages and exports have each once', async () => {
    const log = logOn(kind)
    const operation = `many.${kind}`
    await addMany(operation, 2101)
    await append()
    const exported = (await drained(await log.export(admin, { operation }))).map(({ n }) => n)
    expect(exported).toHaveLength(2101)
    expect(exported).toEqual([...new Set(exported)].sort((one, other) => other - one))
    const first = await log.list(admin, { operation }, { take: 100 })
    const cursor = first.at(-1)?.cursor
    const second = await log.list(admin, { operation }, { take: 100, cursor })
    expect([...first, ...second].map(({ n }) => n)).toEqual(exported.slice(0, 200))
    expect(await log.count(admin, { operation })).toBe(2101)
    const batches: number[] = []
    for (let before: number | undefined; ; before = batches.at(-1)) {
      const batch = await log.events({ operation }, before)
      if (batch.length === 0) break
      batches.push(...batch.map(({ n }) => n))
    }
    expect(batches).toEqual(exported)
  })

  test('every condition selects events of the audit log', async () => {
    const log = logOn(kind)
    const wanted = {
      operation: `users.${kind}`,
      result: 'refused',
      userId: v7(),
      keyId: v7(),
      target: 'user',
      targetId: v7(),
      requestId: 'ticket',
    }
    const n = await append({ ...wanted, reason: 'role_denied' })
    for (const name of Object.keys(wanted)) {
      await append({ ...wanted, [name]: name === 'result' ? 'done' : v7() })
    }
    const numbers = async (input: AuditInput) =>
      (await log.list(admin, input, { take: 50 })).map((event) => event.n)
    expect(await numbers(wanted)).toEqual([n])
    for (const [name, value] of Object.entries(wanted)) {
      const { [name]: _, ...others } = wanted as Record<string, string>
      expect(await log.count(admin, others), name).toBe(2)
      expect(await numbers({ [name]: value }), name).toContain(n)
    }
    expect(await numbers({ ...wanted, to: '2020-01-01' })).toEqual([])
    expect(await numbers({ ...wanted, from: '2020-01-01' })).toEqual([n])
  })

  test('the number of events ends at its bound', async () => {
    const log = logOn(kind)
    const operation = `bound.${kind}`
    await addMany(operation, 10_000)
    expect(await log.count(admin, { operation })).toBe(10_000)
    await addMany(operation, 1)
    expect(await log.count(admin, { operation })).toBeNull()
  })
})

test('an event has everything that is stored, with the microseconds that were hashed', async () => {
  const log = logOn('server')
  const states = { before: '{"role": "user"}', after: '{"role": "admin"}' }
  const n = await append({ ...states, name: 'ada', address: '192.0.2.7', count: 3 })
  const found = await log.findMany(admin, [n, n + 1_000_000])
  const event = found.get(String(n))
  const [row] = await services.database.sql.query<{ at: number; hash: string }>(
    "SELECT (extract(epoch FROM at) * 1000000)::int8 AS at, encode(hash, 'hex') AS hash FROM audit_events WHERE n = $1",
    [n],
  )
  expect(event).toMatchObject({ n, format: 1, ...states, name: 'ada', address: '192.0.2.7', count: 3 })
  expect(event).toMatchObject({ result: 'done', userId: null, targetId: null, hash: row?.hash })
  const [, seconds = '', micros] = /^(.{19})\.(\d{6})Z$/.exec(event?.at ?? '') ?? []
  expect(Date.parse(`${seconds}Z`) * 1_000 + Number(micros)).toBe(row?.at)
  expect(found.size).toBe(1)
})

test('the downloads of a user are single events up to a bound, and commands of an operator always', async () => {
  const log = logOn('server')
  const userId = v7()
  const download = (caller: Principal) => log.exported(caller, 'calls', { agent: 'dify' })
  for (let n = 0; n < BOUNDED_MAX + 5; n += 1) await download({ ...user, userId })
  const countOf = async (where: object) =>
    (await auditEventsOf(services.database.sql, { operation: 'export', ...where })).length
  expect(await countOf({ user_id: userId })).toBe(BOUNDED_MAX)
  const operator: Principal = { ...admin, userId, origin: { operator: 'root@host' } }
  for (let n = 0; n < 5; n += 1) await download(operator)
  expect(await countOf({ name: 'root@host' })).toBe(5)
})

test('a download has its filter on record, without the names of end users, which could not be erased', async () => {
  const userId = v7()
  const filter = { agent: 'dify', end_user: 'ann', conversation: 'ann/1', search: 'ann' }
  await logOn('server').exported({ ...user, userId }, 'conversations', filter)
  const [event] = await auditEventsOf(services.database.sql, { user_id: userId })
  expect(event?.after).not.toContain('ann')
  expect(JSON.parse(event?.after ?? '')).toMatchObject({ agent: 'dify', end_user: '(not recorded)' })
})

test('only administrators read the audit log, whatever the query is', async () => {
  const log = logOn('server')
  const { caller: key } = await services.keyOf(admin, { permissions: ['chat'] })
  for (const [caller, reason] of [
    [user, 'role_denied'],
    [key, 'permission_denied'],
  ] as const) {
    const refused = expect.objectContaining({ reason })
    await expect(log.list(caller, { from: 'never' }, { take: 1 })).rejects.toEqual(refused)
    await expect(log.count(caller, {})).rejects.toEqual(refused)
    await expect(log.findMany(caller, [0])).rejects.toEqual(refused)
    await expect(log.export(caller, {})).rejects.toEqual(refused)
  }
})

test('mistakes in a query of the audit log name their fields, all at once, and take no point', async () => {
  const log = logOn('server', { limits: limitsOf({ points: 1, windowSeconds: 60 }) })
  const input = { userId: 'me', keyId: 'mine', operation: '\0', result: 'lost', target: '\0', from: 'never' }
  const error = await log.list(admin, input, { take: 1 }).catch((cause: unknown) => cause)
  const fields = (error as { mistakes: { field: string[] }[] }).mistakes.map((mistake) =>
    mistake.field.join(),
  )
  expect(fields.sort()).toEqual(['from', 'keyId', 'operation', 'result', 'target', 'userId'])
  for (const cursor of ['bad', 'MA', 'LTE', '', 'MQ==']) {
    await expect(log.list(admin, {}, { take: 1, cursor })).rejects.toMatchObject({ field: ['cursor'] })
  }
  for (const n of [0, -1, 1.5, Number.NaN]) {
    expect(() => requireEventNumber(n)).toThrow(expect.objectContaining({ field: ['n'] }))
  }
  await log.list(admin, {}, { take: 1 })
  await expect(log.list(admin, {}, { take: 1 })).rejects.toMatchObject({ reason: 'rate_limited' })
})
