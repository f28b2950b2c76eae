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
  const admissionSql: Sql = { query: () => Promise.reject(lost()) }
  const observer = { batch: () => undefined, settleFailed: () => undefined }
  const runtime = { ...systemRuntime, elapsedMs: () => Date.now() }
  const ledger = createLedger({ sql, admissionSql, runtime, instanceId: 'one', observer })
  const refused = ledger.admit(admissionOf({ hash: '00'.repeat(32) })).catch((error: unknown) => error)
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
