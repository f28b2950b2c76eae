import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import type { Problem } from '#core/base/errors/errors.ts'
import { type Asking, type EndTurn, OwnerTurns, type TurnRules } from './owner-turns.ts'

afterEach(() => vi.useRealTimers())

function turnsOf(rules: Partial<TurnRules> = {}) {
  const turns = new OwnerTurns({ atOnce: 1, what: 'reads', ...rules })
  const begun: string[] = []
  const refused: string[] = []
  const ends: EndTurn[] = []
  const ask = (name: string, more: Omit<Asking, 'owner'> = {}) => {
    const asking = { owner: name[0] ?? '', ...more }
    return (async () => turns.take(asking))().then(
      (end) => {
        begun.push(name)
        ends.push(end)
      },
      (problem: Problem) => void refused.push(`${name} ${problem.reason}`),
    )
  }
  const endNext = async () => {
    ends.shift()?.()
    await settled()
  }
  return { turns, begun, refused, ends, ask, endNext }
}

type Step =
  | { readonly do: 'ask'; readonly owner: string; readonly weight: number }
  | { readonly do: 'end'; readonly at: number }
  | { readonly do: 'leave'; readonly at: number }

const settled = () => new Promise(setImmediate)

test('owners take turns, however many requests each of them has', async () => {
  const { ask, endNext, begun, turns } = turnsOf()
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) ask(name)
  await settled()
  while (begun.length < 7) await endNext()
  await endNext()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  expect([turns.running, turns.waiting]).toEqual([0, 0])
})

test('an owner that is alone may have all turns, and no more than its own where these are bounded', async () => {
  const alone = turnsOf({ atOnce: 3 })
  for (const name of ['a1', 'a2', 'a3', 'a4']) alone.ask(name)
  await settled()
  expect(alone.begun).toEqual(['a1', 'a2', 'a3'])

  const bounded = turnsOf({ atOnce: 3, perOwner: 2 })
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) bounded.ask(name)
  await settled()
  expect(bounded.begun).toEqual(['a1', 'a2', 'b1'])
  // The turn of `b` ends, which `a` may not take over.
  bounded.ends[2]?.()
  await settled()
  expect(bounded.begun).toEqual(['a1', 'a2', 'b1', 'b2'])
})

test('what needs much waits for room, which nothing that needs less takes before it, also if it gives up', async () => {
  const { ask, endNext, begun, refused, turns } = turnsOf({ atOnce: 10, perOwner: 6 })
  const leaving = new AbortController()
  ask('a1', { weight: 5 })
  ask('b1', { weight: 3 })
  ask('c1', { weight: 4 })
  ask('d1', { weight: 1 })
  // Its owner has no more than 6, so the others do not wait for it.
  ask('a2', { weight: 2 })
  await settled()
  expect([begun, turns.running]).toEqual([['a1', 'b1'], 8])
  await endNext()
  expect([begun, turns.running]).toEqual([['a1', 'b1', 'c1', 'd1', 'a2'], 10])

  ask('e1', { weight: 3, signal: leaving.signal })
  ask('f1', { weight: 1 })
  await endNext()
  expect(begun.slice(5)).toEqual(['e1'])
  ask('e2', { weight: 2, signal: leaving.signal })
  ask('f2', { weight: 1 })
  leaving.abort()
  await settled()
  expect([begun.slice(6), refused]).toEqual([[], ['e2 invalid_request']])
  while (turns.running > 0) await endNext()
  expect(begun.slice(6)).toEqual(['f1', 'f2'])
})

test('one that fits runs as soon as the one before it, for which there was no room, has given up', async () => {
  const { ask, begun, turns } = turnsOf({ atOnce: 10 })
  const leaving = new AbortController()
  ask('a1', { weight: 8 })
  ask('b1', { weight: 5, signal: leaving.signal })
  ask('c1', { weight: 2 })
  await settled()
  expect(begun).toEqual(['a1'])
  leaving.abort()
  await settled()
  expect([begun, turns.running]).toEqual([['a1', 'c1'], 10])
})

test('an owner has a part of the places, and its neighbours have the others', async () => {
  const { ask, refused, turns } = turnsOf({ places: { inAll: 3, perOwner: 2 } })
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) ask(name)
  await settled()
  expect(refused).toEqual(['a4 rate_limited', 'b2 unavailable', 'c1 unavailable'])
  expect(turns.waiting).toBe(3)
  expect(() => turns.requirePlace({ owner: 'a' })).toThrow(
    expect.objectContaining({ reason: 'rate_limited' }),
  )
  expect(() => turns.requirePlace({ owner: 'd' })).toThrow(expect.objectContaining({ reason: 'unavailable' }))
})

test('what belongs to one request waits in one place, and work that has begun needs none', async () => {
  const { ask, refused, turns } = turnsOf({ places: { inAll: 2, perOwner: 1 } })
  const { signal } = new AbortController()
  ask('a1')
  for (const name of ['a2', 'a3', 'a4']) ask(name, { signal })
  ask('a5')
  ask('a6', { isContinued: true })
  await settled()
  expect(refused).toEqual(['a5 rate_limited'])
  expect(turns.waiting).toBe(2)
  turns.requirePlace({ owner: 'a', signal })
})

test('a client that goes away leaves its place, and its turn goes to the next', async () => {
  const { ask, refused, begun, endNext, turns } = turnsOf({ places: { inAll: 2, perOwner: 2 } })
  const leaving = new AbortController()
  ask('a1')
  ask('a2', { signal: leaving.signal })
  ask('a3')
  await settled()
  leaving.abort()
  await settled()
  expect(refused).toEqual(['a2 invalid_request'])
  expect(turns.waiting).toBe(1)
  ask('a4')
  await endNext()
  await endNext()
  expect(begun).toEqual(['a1', 'a3', 'a4'])
  ask('b1', { signal: AbortSignal.abort() })
  await settled()
  expect(refused).toEqual(['a2 invalid_request', 'b1 invalid_request'])
})

test.each([
  ['rate_limited', 'the turns of the owner are taken', 'a1', { atOnce: 2, perOwner: 1 }],
  ['unavailable', 'others have all turns', 'b1', { atOnce: 1 }],
])('who waits too long is refused: %s if %s', async (reason, _why, first, rules) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { ask, refused, turns, endNext, begun } = turnsOf({ ...rules, waitMs: 30_000 })
  ask(first)
  ask('a2')
  await settled()
  vi.advanceTimersByTime(29_999)
  await settled()
  expect(refused).toEqual([])
  vi.advanceTimersByTime(1)
  await settled()
  expect(refused).toEqual([`a2 ${reason}`])
  expect(turns.waiting).toBe(0)
  await endNext()
  ask('a3')
  await settled()
  expect(begun).toEqual([first, 'a3'])
  expect(vi.getTimerCount()).toBe(0)
})

test('when the turns are closed, all that wait are refused, and so is whoever comes later', async () => {
  const { ask, refused, turns, ends } = turnsOf()
  for (const name of ['a1', 'a2', 'b1']) ask(name)
  await settled()
  turns.close('draining')
  ask('c1')
  await settled()
  expect(refused.toSorted()).toEqual(['a2 draining', 'b1 draining', 'c1 draining'])
  ends[0]?.()
  expect([turns.running, turns.waiting]).toEqual([0, 0])
})

test('of a thousand owners that ask at once, each waits for one turn of every other at most', async () => {
  const owners = Array.from({ length: 1_000 }, (_, index) => `owner ${index}`)
  const turns = new OwnerTurns({ atOnce: 2, what: 'reads', places: { inAll: 100_000, perOwner: 10 } })
  const begun: string[] = []
  const all = owners.flatMap((owner) =>
    [1, 2, 3].map(async () => {
      const end = await turns.take({ owner })
      begun.push(owner)
      await settled()
      end()
    }),
  )
  await Promise.all(all)
  // The first owner asked when nobody else had, and began with two of its three.
  const firstRound = begun.slice(2, 1_001)
  expect(new Set(firstRound).size).toBe(firstRound.length)
  expect([turns.running, turns.waiting]).toEqual([0, 0])
})

test('whatever comes and goes, no bound is passed, no turn is idle while someone may have it, and nothing is left over', async () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 2 }))
        .map(([owner, weight]) => ({ do: 'ask', owner, weight }) as const),
    },
    { weight: 3, arbitrary: fc.nat(20).map((at) => ({ do: 'end', at }) as const) },
    { weight: 1, arbitrary: fc.nat(20).map((at) => ({ do: 'leave', at }) as const) },
  )
  const check = async (steps: readonly Step[]) => {
    const rules = { atOnce: 4, perOwner: 3, places: { inAll: 5, perOwner: 3 } }
    const turns = new OwnerTurns({ ...rules, what: 'reads' })
    const running: { owner: string; weight: number; end: EndTurn }[] = []
    const waiting: { owner: string; weight: number; leaving: AbortController }[] = []
    const sum = (of: readonly { weight: number }[]) => of.reduce((total, { weight }) => total + weight, 0)
    for (const each of steps) {
      if (each.do === 'end') {
        for (const { end } of running.splice(each.at, 1)) end()
      } else if (each.do === 'leave') {
        waiting[each.at]?.leaving.abort()
      } else {
        const { owner, weight } = each
        const leaving = new AbortController()
        const asked = { owner, weight, leaving }
        waiting.push(asked)
        const gone = () => void waiting.splice(waiting.indexOf(asked), 1)
        void (async () => turns.take({ owner, weight, signal: leaving.signal }))()
          .then((end) => void running.push({ owner, weight, end }))
          .catch(() => undefined)
          .finally(gone)
      }
      await settled()
      const held = (owner: string) => sum(running.filter((one) => one.owner === owner))
      expect(turns.running).toBe(sum(running))
      expect(turns.waiting).toBe(waiting.length)
      expect(turns.running).toBeLessThanOrEqual(rules.atOnce)
      expect(waiting.length).toBeLessThanOrEqual(rules.places.inAll)
      for (const owner of ['a', 'b', 'c']) {
        expect(held(owner)).toBeLessThanOrEqual(rules.perOwner)
        const waits = waiting.filter((one) => one.owner === owner).length
        expect(waits).toBeLessThanOrEqual(rules.places.perOwner)
      }
      const first = ['a', 'b', 'c'].flatMap((owner) => waiting.find((one) => one.owner === owner) ?? [])
      const mayRun = first.filter(({ owner, weight }) => held(owner) + weight <= rules.perOwner)
      if (mayRun.length > 0) {
        expect(mayRun.some(({ weight }) => turns.running + weight > rules.atOnce)).toBe(true)
      }
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), check), {
    numRuns: process.env.SOAK ? 5_000 : 100,
  })
})
