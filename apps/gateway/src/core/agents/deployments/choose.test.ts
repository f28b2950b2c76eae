import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Candidate, choose } from './choose.ts'

const candidate = (more: Partial<Candidate> = {}): Candidate => ({
  weight: 1,
  priority: 0,
  inFlight: 0,
  restsUntilMs: undefined,
  ...more,
})

/** Numbers from 0 up to 1 that are the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const notAsked = () => {
  throw new Error('there is nothing to draw')
}

test('the only one is chosen without a draw, even if its credential rests', () => {
  const only = candidate({ restsUntilMs: 9 })
  expect(choose([only], notAsked)).toBe(only)
  expect(choose([], notAsked)).toBeUndefined()
})

test('without a weight there are no calls', () => {
  const none = candidate({ weight: 0 })
  const spare = candidate({ priority: 1, inFlight: 99 })
  expect(choose([none], notAsked)).toBeUndefined()
  expect(choose([none, none], notAsked)).toBeUndefined()
  expect(choose([none, spare], notAsked)).toBe(spare)
})

test('the lowest priority is chosen, however many calls it has', () => {
  const first = candidate({ priority: -1, inFlight: 500 })
  expect(choose([candidate(), first, candidate()], notAsked)).toBe(first)
})

test('a credential that rests is passed over where there is another way, a spare deployment as well', () => {
  const resting = candidate({ restsUntilMs: 100 })
  const awake = candidate({ inFlight: 50 })
  const spare = candidate({ priority: 1 })
  expect(choose([resting, awake, spare], notAsked)).toBe(awake)
  expect(choose([resting, spare], notAsked)).toBe(spare)
})

test('if all rest, the one whose rest ends first is used', () => {
  const late = candidate({ restsUntilMs: 300 })
  const spare = candidate({ restsUntilMs: 200, priority: 1 })
  const early = candidate({ restsUntilMs: 200 })
  const without = candidate({ restsUntilMs: 100, weight: 0 })
  expect(choose([late, spare, early, without], notAsked)).toBe(early)
})

test('of two that are drawn, the one with fewer calls for its weight is taken', () => {
  const heavy = candidate({ weight: 3, inFlight: 5 })
  const light = candidate({ weight: 1, inFlight: 2 })
  const drawn = (...numbers: number[]) => choose([heavy, light], () => numbers.shift() ?? Number.NaN)
  expect(drawn(0.1, 0.9)).toBe(heavy)
  expect(drawn(0.9, 0.1)).toBe(heavy)
  expect(drawn(0.9, 0.75)).toBe(light)
  expect(drawn(0.74, 0)).toBe(heavy)
})

test('whatever the candidates, the chosen one has a weight, and rests only if all do', () => {
  const any = fc.record({
    weight: fc.nat({ max: 3 }),
    priority: fc.integer({ min: -1, max: 2 }),
    inFlight: fc.nat({ max: 20 }),
    restsUntilMs: fc.option(fc.nat({ max: 9 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.array(any, { maxLength: 6 }), fc.nat(), (candidates, seed) => {
      const chosen = choose(candidates, seeded(seed))
      const able = candidates.filter(({ weight }) => weight > 0)
      const awake = able.filter(({ restsUntilMs }) => restsUntilMs === undefined)
      const expected =
        awake.length > 0
          ? awake.filter(({ priority }) => priority === Math.min(...awake.map((each) => each.priority)))
          : able.filter(
              ({ restsUntilMs }) => restsUntilMs === Math.min(...able.map((each) => each.restsUntilMs ?? 0)),
            )
      if (expected.length === 0) expect(chosen).toBeUndefined()
      else expect(expected).toContain(chosen)
    }),
  )
})

describe('of 10,000 calls, shares follow the weights within 3 percentage points', () => {
  const CALLS = 10_000

  /** How many calls each gets if so many are in progress at once. */
  function sharesOf(weights: readonly number[], atOnce: number, random: () => number): number[] {
    const deployments = weights.map((weight) => ({ ...candidate({ weight }), inFlight: 0, taken: 0 }))
    const running: (typeof deployments)[number][] = []
    for (let call = 0; call < CALLS; call += 1) {
      // Calls end in any order.
      if (running.length === atOnce) {
        const [ended] = running.splice(Math.floor(random() * running.length), 1)
        if (ended !== undefined) ended.inFlight -= 1
      }
      const chosen = choose(deployments, random)
      if (chosen === undefined) throw new Error('none was chosen')
      chosen.inFlight += 1
      chosen.taken += 1
      running.push(chosen)
    }
    return deployments.map(({ taken }) => taken / CALLS)
  }

  test.each([
    [[3, 1], 1],
    [[3, 1], 50],
    [[1, 3], 50],
    [[5, 3, 2], 1],
    [[5, 3, 2], 50],
  ])('weights %j, %i at once', (weights, atOnce) => {
    const sum = weights.reduce((total, each) => total + each, 0)
    for (let seed = 1; seed <= 5; seed += 1) {
      const shares = sharesOf(weights, atOnce, seeded(seed))
      for (const [index, share] of shares.entries()) {
        expect(Math.abs(share - (weights[index] ?? 0) / sum)).toBeLessThan(0.03)
      }
    }
  })

  test('a deployment whose calls take longer gets fewer of them', () => {
    const random = seeded(7)
    const slow = { ...candidate(), inFlight: 0, taken: 0 }
    const fast = { ...candidate(), inFlight: 0, taken: 0 }
    for (let call = 0; call < CALLS; call += 1) {
      const chosen = choose([slow, fast], random)
      if (chosen === undefined) throw new Error('none was chosen')
      chosen.inFlight += 1
      chosen.taken += 1
      fast.inFlight = 0
      if (call % 10 === 0) slow.inFlight = Math.max(0, slow.inFlight - 1)
    }
    expect(slow.taken).toBeLessThan(0.3 * CALLS)
  })
})
