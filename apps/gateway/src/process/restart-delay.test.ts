import { expect, test } from 'vitest'
import { RestartDelay } from './restart-delay.ts'

test('each early death doubles the delay, up to half a minute', () => {
  const delay = new RestartDelay()
  expect(Array.from({ length: 7 }, () => delay.next(2_000))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
  ])
})

test('a worker that ran for a minute is replaced after a second, whatever happened before', () => {
  const delay = new RestartDelay()
  for (let death = 0; death < 5; death += 1) delay.next(10)
  expect([delay.next(60_000), delay.next(10)]).toEqual([1_000, 2_000])
})
