import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLimits, type Limits } from './limits.ts'

const rule = { points: 3, windowSeconds: 60 }

let limits: Limits

beforeEach(() => {
  vi.useFakeTimers()
  limits = createLimits({
    ...{ chat: rule, upload: rule, agents: rule, login: rule, loginAddress: rule },
    refusedKeys: { points: 1, windowSeconds: 10 },
  })
})
afterEach(() => {
  vi.useRealTimers()
})

test('so many calls pass, the next is refused, and the verdict tells where the caller stands', async () => {
  const verdict = { policy: 'chat', points: 3, windowSeconds: 60, resetSeconds: 60 }
  expect(await limits.chat.take('a')).toEqual({ ...verdict, allowed: true, remaining: 2 })
  expect(await limits.chat.take('a')).toEqual({ ...verdict, allowed: true, remaining: 1 })
  expect(await limits.chat.take('a')).toEqual({ ...verdict, allowed: true, remaining: 0 })
  expect(await limits.chat.take('a')).toEqual({ ...verdict, allowed: false, remaining: 0 })
})

test('the window is fixed from its first call: refused calls do not prolong it, and it ends at once for all', async () => {
  for (let call = 0; call < 3; call += 1) {
    await limits.chat.take('a')
    vi.advanceTimersByTime(15_000)
  }
  expect(await limits.chat.take('a')).toMatchObject({ allowed: false, resetSeconds: 15 })
  vi.advanceTimersByTime(14_500)
  expect(await limits.chat.take('a')).toMatchObject({ allowed: false, resetSeconds: 1 })
  vi.advanceTimersByTime(500)
  expect(await limits.chat.take('a')).toMatchObject({ allowed: true, remaining: 2, resetSeconds: 60 })
})

test('callers and limits do not share their counts', async () => {
  for (let call = 0; call < 4; call += 1) await limits.chat.take('a')
  expect(await limits.chat.take('b')).toMatchObject({ allowed: true, remaining: 2 })
  expect(await limits.upload.take('a')).toMatchObject({ allowed: true, policy: 'upload' })
  expect(await limits.refusedKeys.take('a')).toMatchObject({ points: 1, windowSeconds: 10 })
})

test("a caller's own limit lowers the rule and never raises it", async () => {
  expect(await limits.chat.take('a', 1)).toMatchObject({ allowed: true, points: 1, remaining: 0 })
  expect(await limits.chat.take('a', 1)).toMatchObject({ allowed: false, points: 1, remaining: 0 })
  for (let call = 0; call < 3; call += 1) {
    expect(await limits.chat.take('b', 100)).toMatchObject({ allowed: true, points: 3 })
  }
  expect(await limits.chat.take('b', 100)).toMatchObject({ allowed: false, points: 3 })
})

test('a look tells whether a take would pass, and takes nothing', async () => {
  expect(await limits.login.peek('a')).toMatchObject({ allowed: true, remaining: 3, resetSeconds: 60 })
  for (let call = 0; call < 3; call += 1) await limits.login.take('a')
  expect(await limits.login.peek('a')).toMatchObject({ allowed: false, remaining: 0 })
  vi.advanceTimersByTime(60_000)
  expect(await limits.login.peek('a')).toMatchObject({ allowed: true, remaining: 3 })
})
