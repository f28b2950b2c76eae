import { v7 } from 'uuid'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'
import { admissionOf } from './ledger.test-support.ts'
import { createLedger } from './ledger.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A ledger whose admissions and settlements the test answers. */
function ledgerWith(admissionSql: Sql, sql: Sql) {
  const observer = { batch: () => undefined, settleFailed: () => undefined }
  const runtime = { ...systemRuntime, elapsedMs: () => Date.now() }
  return createLedger({ sql, admissionSql, runtime, instanceId: 'one', observer })
}

const admission = () => admissionOf({ id: v7(), hash: '00'.repeat(32) })

const lost = () => Object.assign(new Error('the connection is lost'), { code: 'ECONNRESET' })

test('a call whose admission was not answered is settled once more after a server that stood still for minutes goes on', async () => {
  let isStanding = true
  const settled: string[] = []
  const sql: Sql = {
    async query(text) {
      if (isStanding) throw lost()
      settled.push(text)
      return []
    },
  }
  const ledger = ledgerWith({ query: () => Promise.reject(lost()) }, sql)
  const refused = ledger.admit(admission()).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(2_100)
  expect(await refused).toMatchObject({ reason: 'unavailable' })

  await vi.advanceTimersByTimeAsync(5 * 60_000)
  expect(ledger.backlog().waiting).toBe(1)
  isStanding = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(settled.length).toBe(1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(settled).toHaveLength(5)
  expect(ledger.backlog().waiting).toBe(0)
})

test.each([
  ['25006', 'not_writable'],
  ['42501', 'not_writable'],
  ['53100', 'disk_full'],
  ['40P01', 'database'],
])(
  'a call that the database did not count (%s) is refused as unavailable, and leaves nothing to settle',
  async (code, limit) => {
    const sql: Sql = { query: () => Promise.reject(Object.assign(new Error(code), { code })) }
    const ledger = ledgerWith(sql, sql)
    const refused = ledger.admit(admission()).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(2_100)
    expect(await refused).toMatchObject({ reason: 'unavailable', limit, retryAfterSeconds: 1 })
    await vi.advanceTimersByTimeAsync(2_100)
    expect(ledger.backlog().waiting).toBe(0)
  },
)

test('an admission that gave way to another transaction is repeated', async () => {
  const errors = [Object.assign(new Error('deadlock detected'), { code: '40P01' })]
  const sql: Sql = {
    async query<Row>() {
      const error = errors.shift()
      if (error !== undefined) throw error
      return [{ answers: [[null, 'key', 'owner', 9, null]] }] as Row[]
    },
  }
  const admitted = ledgerWith(sql, sql).admit(admission())
  await vi.advanceTimersByTimeAsync(200)
  expect(await admitted).toEqual({ keyId: 'key', ownerId: 'owner' })
})

test('calls are refused while very many ends wait for a database that takes admissions alone', async () => {
  let isFailing = true
  const settling: Sql = {
    query: () =>
      isFailing ? Promise.reject(Object.assign(new Error(), { code: '42501' })) : Promise.resolve([]),
  }
  let asked = 0
  const admitting: Sql = {
    async query<Row>() {
      asked += 1
      return [{ answers: [[null, 'key', 'owner', 9, null]] }] as Row[]
    },
  }
  const ledger = ledgerWith(admitting, settling)
  for (let n = 0; n < 50_000; n += 1) ledger.settle({ callId: String(n), outcome: 'done', durationMs: 1 })
  await expect(ledger.admit(admission())).rejects.toMatchObject({ reason: 'unavailable', limit: 'database' })
  expect(asked).toBe(0)
  isFailing = false
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ledger.backlog().waiting).toBe(0)
  const admitted = ledger.admit(admission())
  await vi.advanceTimersByTimeAsync(10)
  expect(await admitted).toMatchObject({ keyId: 'key' })
})
