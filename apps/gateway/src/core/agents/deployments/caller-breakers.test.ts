import assert from 'node:assert/strict'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CallerBreakers } from './caller-breakers.ts'

const PARTIES = ['ada', 'bob', 'eve', 'zoe'] as const

interface Trial {
  readonly party: string
  readonly number: number
  readonly sinceMs: number
}

/** What is refused to everybody but for trials. */
interface ModelOpening {
  readonly after: number
  readonly contributors: Set<string>
  dueMs: number
  failedTrials: number
  answeredMs: number | undefined
  trial: Trial | undefined
  newcomer: Trial | undefined
  newcomerCalledMs: number
}

/** What is refused to one party but for its trial. */
interface ModelRefusal {
  dueMs: number
  failedTrials: number
  trial: number | undefined
}

/** The rules, as they are documented, applied to a list of all results. */
class Model {
  readonly attempts = { latest: 0 }
  readonly parties = new CallerBreakers(this.attempts, () => 0.5, 0)
  readonly seen = new Set<string>()
  nowMs = 0
  running: { party: string; number: number }[] = []
  #results: { party: string; hasFailed: boolean; isLate: boolean; atMs: number }[] = []
  #after = 0
  #openPeriod: ModelOpening | undefined
  readonly #refusals = new Map<string, ModelRefusal>()
  readonly #afterOf = new Map<string, number>()

  begin(party: string): void {
    const isTrial = this.#mayBegin(party)
    this.attempts.latest += 1
    const number = this.attempts.latest
    this.parties.begin(party, number, this.nowMs)
    this.running.push({ party, number })
    const trial = { party, number, sinceMs: this.nowMs }
    const openPeriod = this.#openPeriod
    if (openPeriod === undefined) {
      const refusal = this.#refusals.get(party)
      if (refusal !== undefined && isTrial) refusal.trial = number
    } else if (openPeriod.contributors.has(party)) {
      if (isTrial) openPeriod.trial = trial
    } else {
      openPeriod.newcomerCalledMs = this.nowMs
      if (isTrial) openPeriod.newcomer = trial
    }
  }

  end(at: number, how: 'succeeded' | 'failed' | 'withoutVerdict' | 'wasUnreachable'): void {
    const [attempt] = this.running.splice(at % Math.max(1, this.running.length), 1)
    if (attempt === undefined) return
    const { party, number } = attempt
    this.parties[how](party, number, this.nowMs)
    const openPeriod = this.#openPeriod
    if (openPeriod !== undefined) {
      if (how === 'succeeded' && number > openPeriod.after) this.#close()
      else if (how !== 'succeeded') this.#endTrial(openPeriod, number, how !== 'withoutVerdict')
      return
    }
    const refusal = this.#refusals.get(party)
    const isTrial = refusal?.trial === number
    if (how === 'withoutVerdict' || how === 'wasUnreachable') {
      if (refusal === undefined || !isTrial) return
      refusal.trial = undefined
      if (how === 'wasUnreachable') this.#postpone(refusal)
      return
    }
    if (number <= this.#after) return
    if (how === 'succeeded') this.#succeeded(party, number)
    else if (isTrial || (refusal === undefined && number > (this.#afterOf.get(party) ?? 0)))
      this.#failed(party)
  }

  probed(hasAnswered: boolean): void {
    this.parties.openPeriod?.probed(hasAnswered, this.nowMs)
    const openPeriod = this.#openPeriod
    if (openPeriod === undefined || openPeriod.answeredMs !== undefined || this.nowMs < openPeriod.dueMs)
      return
    if (hasAnswered) openPeriod.answeredMs = this.nowMs
    else openPeriod.dueMs = this.nowMs + 5_000
  }

  hasten(): void {
    this.parties.hasten(this.nowMs)
    for (const refusal of this.#refusals.values()) {
      refusal.dueMs = Math.min(refusal.dueMs, this.nowMs)
      refusal.failedTrials = -1
    }
  }

  /** By `assert`, which is much faster than `expect` and is called thousands of times. */
  compare(): void {
    assert.equal(this.parties.openPeriod !== undefined, this.#openPeriod !== undefined)
    if (this.#openPeriod !== undefined) this.seen.add('open for all')
    for (const party of PARTIES) {
      const may = this.#mayBegin(party)
      assert.equal(this.parties.mayBegin(party, this.nowMs), may, party)
      if (!may && this.#openPeriod === undefined) this.seen.add('open for one')
    }
  }

  #mayBegin(party: string): boolean {
    const openPeriod = this.#openPeriod
    if (openPeriod === undefined) {
      const refusal = this.#refusals.get(party)
      return refusal === undefined || (refusal.trial === undefined && this.nowMs >= refusal.dueMs)
    }
    const isFree = (trial: Trial | undefined) =>
      trial === undefined || (trial.party !== party && this.nowMs - trial.sinceMs >= 5_000)
    if (!openPeriod.contributors.has(party)) return isFree(openPeriod.newcomer)
    const { answeredMs, newcomerCalledMs } = openPeriod
    if (answeredMs === undefined) return false
    const areOthersExpected = this.nowMs < answeredMs + 5_000 && this.nowMs < newcomerCalledMs + 5_000
    return !areOthersExpected && isFree(openPeriod.trial)
  }

  #succeeded(party: string, number: number): void {
    const isLate = number <= (this.#afterOf.get(party) ?? 0)
    this.#results.push({ party, hasFailed: false, isLate, atMs: this.nowMs })
    if (this.#refusals.has(party) && !isLate) {
      this.#refusals.delete(party)
      this.#afterOf.set(party, this.attempts.latest)
    }
  }

  #failed(party: string): void {
    this.#results.push({ party, hasFailed: true, isLate: false, atMs: this.nowMs })
    const sinceSuccess = this.#results.slice(this.#results.findLastIndex(({ hasFailed }) => !hasFailed) + 1)
    const lately = sinceSuccess.filter(({ atMs }) => this.nowMs - atMs < 30_000)
    const contributors = new Set(lately.map((each) => each.party))
    if (lately.length >= 5 && contributors.size >= 2) {
      this.#openPeriod = {
        after: this.attempts.latest,
        contributors,
        dueMs: this.nowMs + 5_000,
        failedTrials: 0,
        answeredMs: undefined,
        trial: undefined,
        newcomer: undefined,
        newcomerCalledMs: Number.NEGATIVE_INFINITY,
      }
      this.#forget()
      return
    }
    const refusal = this.#refusals.get(party)
    if (refusal !== undefined) {
      refusal.trial = undefined
      this.#postpone(refusal)
      return
    }
    const own = this.#results.filter((each) => each.party === party && !each.isLate)
    const streak = own.slice(own.findLastIndex(({ hasFailed }) => !hasFailed) + 1)
    if (streak.length < 5) return
    this.#refusals.set(party, { dueMs: this.nowMs + 5_000, failedTrials: 0, trial: undefined })
    this.#afterOf.set(party, this.attempts.latest)
  }

  #postpone(refusal: ModelRefusal): void {
    refusal.failedTrials += 1
    refusal.dueMs = this.nowMs + Math.min(60_000, 5_000 * 2 ** refusal.failedTrials)
    if (refusal.failedTrials > 1) this.seen.add('several trials of one')
  }

  #endTrial(openPeriod: ModelOpening, number: number, hasFailed: boolean): void {
    if (openPeriod.newcomer?.number === number) {
      if (hasFailed) openPeriod.contributors.add(openPeriod.newcomer.party)
      openPeriod.newcomer = undefined
    }
    if (openPeriod.trial?.number !== number) return
    openPeriod.trial = undefined
    if (!hasFailed) return
    openPeriod.answeredMs = undefined
    openPeriod.dueMs = this.nowMs + Math.min(60_000, 5_000 * 2 ** openPeriod.failedTrials)
    openPeriod.failedTrials += 1
    if (openPeriod.failedTrials > 1) this.seen.add('several trials of all')
  }

  #close(): void {
    this.#openPeriod = undefined
    this.#after = this.attempts.latest
    this.seen.add('closed again')
  }

  #forget(): void {
    this.#results = []
    this.#refusals.clear()
    this.#afterOf.clear()
  }
}

test('in any order of events a party, and everybody, is refused exactly when the rules say so', () => {
  const party = fc.nat({ max: PARTIES.length - 1 })
  const at = fc.nat({ max: 3 })
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('begin' as const), party }) },
    { weight: 7, arbitrary: fc.record({ kind: fc.constant('failed' as const), at }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('succeeded' as const), at }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom('withoutVerdict' as const, 'wasUnreachable' as const),
        at,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('pass' as const),
        ms: fc.oneof(fc.nat({ max: 3_000 }), fc.nat({ max: 20_000 })),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('probed' as const), hasAnswered: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('hasten' as const) }) },
  )
  const seen = new Set<string>()
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 150, size: 'max' }),
      fc.constantFrom(1, 2, 4),
      (steps, number) => {
        const model = new Model()
        for (const each of steps) {
          if (each.kind === 'begin') model.begin(PARTIES[each.party % number] ?? 'ada')
          else if (each.kind === 'pass') model.nowMs += each.ms
          else if (each.kind === 'probed') model.probed(each.hasAnswered)
          else if (each.kind === 'hasten') model.hasten()
          else model.end(each.at, each.kind)
          model.compare()
        }
        for (const each of model.seen) seen.add(each)
      },
    ),
    { numRuns: process.env.SOAK ? 50_000 : 400 },
  )
  expect([...seen].sort()).toEqual([
    'closed again',
    'open for all',
    'open for one',
    'several trials of all',
    'several trials of one',
  ])
})

test('so many parties are remembered: the oldest is forgotten', () => {
  const attempts = { latest: 0 }
  const parties = new CallerBreakers(attempts, () => 0.5, 0)
  const fail = (party: string, times: number, nowMs: number) => {
    for (let time = 0; time < times; time += 1) {
      attempts.latest += 1
      parties.begin(party, attempts.latest, nowMs)
      parties.failed(party, attempts.latest, nowMs)
    }
  }
  fail('first', 5, 0)
  expect(parties.mayBegin('first', 0)).toBe(false)
  // Each so long after the one before that they do not open it for all.
  for (let party = 0; party < 999; party += 1) fail(`party ${party}`, 1, 30_000 * (party + 1))
  parties.hasten(0)
  attempts.latest += 1
  parties.begin('first', attempts.latest, 30_000_000)
  expect(parties.refusalOf('first')).toBe('tried')
  fail('last', 1, 40_000_000)
  expect(parties.refusalOf('first')).toBeUndefined()
})
