import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { rulesOf } from './limits.test-support.ts'
import { createLimits, type Limits } from './limits.ts'
import { perMinute } from './own-limits.ts'
import { createWindows } from './windows.ts'

const rule = { points: 3, windowSeconds: 60 }

let limits: Limits

beforeEach(() => {
  vi.useFakeTimers()
  limits = createLimits({
    ...rulesOf(rule),
    refusedKeys: { points: 1, windowSeconds: 10 },
  })
})
afterEach(() => {
  vi.useRealTimers()
})

test('calls within the limit pass, the next is rejected, and the verdict carries the state of the window', async () => {
  const whole = { points: 3, windowSeconds: 60, of: 'gateway' }
  const verdict = { policy: 'chat', limit: 'chat', points: 3, windowSeconds: 60, whole, resetSeconds: 60 }
  expect(await limits.chat.take('a')).toEqual({ ...verdict, allowed: true, remaining: 2 })
  expect(await limits.chat.take('a')).toEqual({ ...verdict, allowed: true, remaining: 1 })
  expect(await limits.chat.take('a')).toEqual({ ...verdict, allowed: true, remaining: 0 })
  expect(await limits.chat.take('a')).toEqual({ ...verdict, allowed: false, remaining: 0 })
})

test('the window starts with its first call, is not prolonged by rejected calls and ends for all points at once', async () => {
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

test("a caller's own limit takes the place of the rule, up to the highest that there may be", async () => {
  expect(await limits.chat.take('a', 1)).toMatchObject({ allowed: true, points: 1, remaining: 0 })
  expect(await limits.chat.take('a', 1)).toMatchObject({ allowed: false, points: 1, remaining: 0 })
  for (let call = 0; call < 5; call += 1)
    expect(await limits.chat.take('b', 5)).toMatchObject({ allowed: true, points: 5 })
  expect(await limits.chat.take('b', 5)).toMatchObject({ allowed: false, points: 5 })
  // Ten times the rule where nothing is said, and for limits that keys have none of no more than the rule.
  expect(await limits.chat.take('c', 100)).toMatchObject({ points: 30 })
  expect(await limits.agents.take('c', 100)).toMatchObject({ points: 3 })
  const bounded = createLimits({ ...rulesOf(rule), maxPerKey: { chat: 7 } })
  expect(await bounded.chat.take('c', 100)).toMatchObject({ points: 7 })
  expect(await bounded.upload.take('c', 100)).toMatchObject({ points: 30 })
  // Which of the two it was is on record for whoever wants to raise it.
  expect((await limits.chat.take('a', 1)).whole).toEqual({ points: 1, windowSeconds: 60, of: 'key' })
  expect((await limits.chat.take('b', 3)).whole).toEqual({ points: 3, windowSeconds: 60, of: 'gateway' })
})

test('a caller is spent with its last point, until the window ends or a point is given back, and no other caller is', async () => {
  const { login } = limits
  const spent = () => [performance.now() < login.spentUntilMs, login.isSpent('a'), login.isSpent('b')]
  for (let call = 0; call < 3; call += 1) {
    expect(spent()).toEqual([false, false, false])
    await login.take('a')
  }
  expect(spent()).toEqual([true, true, false])
  await login.giveBack('a')
  expect(spent().slice(1)).toEqual([false, false])
  for (let call = 0; call < 2; call += 1) await login.take('a')
  vi.advanceTimersByTime(59_999)
  expect(spent()).toEqual([true, true, false])
  vi.advanceTimersByTime(1)
  expect(spent()).toEqual([false, false, false])
})

test('a rule that is changed holds for windows that are open, and one with another length begins anew', async () => {
  const rules = { ...rulesOf(rule) }
  const changing = createLimits(rules)
  for (let call = 0; call < 3; call += 1) await changing.chat.take('a')
  rules.chat = { points: 5, windowSeconds: 60 }
  expect(await changing.chat.take('a')).toMatchObject({ allowed: true, points: 5, remaining: 1 })
  rules.chat = { points: 2, windowSeconds: 60 }
  expect(await changing.chat.take('a')).toMatchObject({ allowed: false, points: 2, remaining: 0 })
  rules.chat = { points: 2, windowSeconds: 10 }
  expect(await changing.chat.take('a')).toMatchObject({ allowed: true, windowSeconds: 10, remaining: 1 })
})

test('a point that is given back may be taken again, but only in its own window', async () => {
  for (let call = 0; call < 3; call += 1) await limits.login.take('a')
  await limits.login.giveBack('a')
  expect(await limits.login.take('a')).toMatchObject({ allowed: true, remaining: 0 })
  expect(await limits.login.take('a')).toMatchObject({ allowed: false })
  vi.advanceTimersByTime(60_000)
  await limits.login.giveBack('a')
  expect(await limits.login.take('a')).toMatchObject({ allowed: true, remaining: 2 })
})

test.each([
  [{ points: 60, windowSeconds: 60 }, 20, 20],
  [{ points: 60, windowSeconds: 10 }, 20, 3],
  [{ points: 60, windowSeconds: 10 }, 1, 1],
  [{ points: 60, windowSeconds: 300 }, 10, 50],
  [{ points: 60, windowSeconds: 300 }, 18, 90],
])(
  'with the rule %o a caller with an own limit of %i a minute has %i points',
  async (chat, ownPerMinute, points) => {
    const { chat: limiter } = createLimits({ ...rulesOf(rule), chat })
    const verdicts = await Promise.all(Array.from({ length: 100 }, () => limiter.take('a', ownPerMinute)))
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(points)
    expect(verdicts[0]).toMatchObject({ points, windowSeconds: chat.windowSeconds })
  },
)

test('a limit is shown in points a minute and never as zero', () => {
  expect(perMinute({ points: 10, windowSeconds: 60 })).toBe(10)
  expect(perMinute({ points: 10, windowSeconds: 20 })).toBe(30)
  expect(perMinute({ points: 10, windowSeconds: 3_600 })).toBe(1)
})

test('processes that share a limit without Redis each have an equal part of it, and at least one point', async () => {
  const refusedKeys = { points: 1, windowSeconds: 60 }
  const observer = { storeAnswers: () => undefined }
  const shared = createLimits({ ...rulesOf(rule), refusedKeys }, { processes: { live: 2 }, observer })
  const { chat, refusedKeys: few } = shared
  expect(await chat.take('a')).toMatchObject({ allowed: true, points: 1, remaining: 0 })
  expect(await chat.take('a')).toMatchObject({ allowed: false, points: 1, whole: { points: 3 } })
  expect(await few.take('a')).toMatchObject({ allowed: true, points: 1 })
  expect([chat.isSpent('a'), chat.isSpent('b'), few.isSpent('a')]).toEqual([true, false, true])
})

test('windows that have ended are deleted, and their number is bounded', async () => {
  const windows = createWindows(60, 100)
  const first = windows.open('first')
  for (let caller = 0; caller < 100; caller += 1) windows.open(`caller ${caller}`)
  expect(windows.find('first')).toBeUndefined()
  expect(await windows.counts.get('first')).toBeNull()
  expect(windows.open('first')).not.toBe(first)
  expect(windows.find('caller 99')).toBeDefined()
  expect(windows.callers()).toHaveLength(100)
  vi.advanceTimersByTime(60_000)
  expect(windows.find('caller 99')).toBeUndefined()
  expect(windows.callers()).toEqual([])
  expect(windows.counts.dump().storage).toEqual([])
})
