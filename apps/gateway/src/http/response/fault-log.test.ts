import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import { createLogger } from '#ops/logger.ts'
import { FaultLog } from './fault-log.ts'

let faults: FaultLog
let lines: unknown[]

beforeEach(() => {
  vi.useFakeTimers()
  lines = []
  const log = createLogger('silent')
  vi.spyOn(log, 'error').mockImplementation((fields: unknown) => void lines.push(fields))
  faults = new FaultLog(log)
})
afterEach(() => {
  vi.useRealTimers()
})

const unavailable = (code: string) =>
  new Problem('unavailable', { cause: Object.assign(new Error(code), { code }) })

test('an outage is logged at once, and then once a second with the number of requests', () => {
  for (let n = 1; n <= 100; n += 1) faults.log(unavailable('ECONNREFUSED'), { reqId: `r${n}` })
  expect(lines).toMatchObject([{ reqId: 'r1', count: 1, err: { code: 'ECONNREFUSED' } }])
  vi.advanceTimersByTime(1_000)
  expect(lines).toMatchObject([{}, { reqId: 'r100', count: 99 }])
  faults.log(unavailable('ECONNREFUSED'), { reqId: 'r101' })
  vi.advanceTimersByTime(1_000)
  expect(lines).toMatchObject([{}, {}, { reqId: 'r101', count: 1 }])
  vi.advanceTimersByTime(60_000)
  expect(lines).toHaveLength(3)
  faults.log(unavailable('ECONNREFUSED'), { reqId: 'later' })
  expect(lines).toHaveLength(4)
})

test('different causes are counted apart, but there are at most so many', () => {
  faults.log(unavailable('53100'), { reqId: 'a' })
  faults.log(unavailable('ECONNRESET'), { reqId: 'b' })
  expect(lines).toMatchObject([{ err: { code: '53100' } }, { err: { code: 'ECONNRESET' } }])
  for (let n = 0; n < 1_000; n += 1) faults.log(unavailable(`E${n}`), { reqId: String(n) })
  expect(lines.length).toBeLessThan(30)
})

test('every fault of the gateway itself is logged, and no refusal', () => {
  for (const reqId of ['a', 'b'])
    faults.log(new Problem('internal_error', { cause: new Error('bug') }), { reqId })
  expect(lines).toMatchObject([{ reqId: 'a' }, { reqId: 'b' }])
  faults.log(new Problem('unavailable'), { reqId: 'c' })
  faults.log(new Problem('key_unknown'), { reqId: 'd' })
  expect(lines).toHaveLength(2)
})
