import type { FastifyBaseLogger } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Problem } from '#core/errors.ts'
import { createLogger } from '#ops/logger.ts'
import { logFault } from './log-fault.ts'

let log: FastifyBaseLogger
let lines: unknown[]

beforeEach(() => {
  vi.useFakeTimers()
  lines = []
  log = createLogger('silent')
  vi.spyOn(log, 'error').mockImplementation((fields: unknown) => void lines.push(fields))
})
afterEach(() => {
  vi.useRealTimers()
})

const unavailable = (code: string) =>
  new Problem('unavailable', { cause: Object.assign(new Error(code), { code }) })

test('an outage is logged at once, and then once a second with the number of requests', () => {
  for (let n = 1; n <= 100; n += 1) logFault(log, unavailable('ECONNREFUSED'), { reqId: `r${n}` })
  expect(lines).toMatchObject([{ reqId: 'r1', count: 1, err: { code: 'ECONNREFUSED' } }])
  vi.advanceTimersByTime(1_000)
  expect(lines).toMatchObject([{}, { reqId: 'r100', count: 99 }])
  logFault(log, unavailable('ECONNREFUSED'), { reqId: 'r101' })
  vi.advanceTimersByTime(1_000)
  expect(lines).toMatchObject([{}, {}, { reqId: 'r101', count: 1 }])
  vi.advanceTimersByTime(60_000)
  expect(lines).toHaveLength(3)
  logFault(log, unavailable('ECONNREFUSED'), { reqId: 'later' })
  expect(lines).toHaveLength(4)
})

test('different causes are counted apart, but there are at most so many', () => {
  logFault(log, unavailable('53100'), { reqId: 'a' })
  logFault(log, unavailable('ECONNRESET'), { reqId: 'b' })
  expect(lines).toMatchObject([{ err: { code: '53100' } }, { err: { code: 'ECONNRESET' } }])
  for (let n = 0; n < 1_000; n += 1) logFault(log, unavailable(`E${n}`), { reqId: String(n) })
  expect(lines.length).toBeLessThan(30)
})

test('every fault of the gateway itself is logged, and no refusal', () => {
  for (const reqId of ['a', 'b'])
    logFault(log, new Problem('internal_error', { cause: new Error('bug') }), { reqId })
  expect(lines).toMatchObject([{ reqId: 'a' }, { reqId: 'b' }])
  logFault(log, new Problem('unavailable'), { reqId: 'c' })
  logFault(log, new Problem('key_unknown'), { reqId: 'd' })
  expect(lines).toHaveLength(2)
})
