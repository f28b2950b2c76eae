import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Breaker, type Ticket } from './breaker.ts'

/** Without spread: waits are exactly as long as they are on average. */
const MIDDLE = () => 0.5

function fail(breaker: Breaker, times: number, nowMs: number): void {
  for (let time = 0; time < times; time += 1) breaker.failed(breaker.begin(nowMs), nowMs)
}

function succeed(breaker: Breaker, times: number, nowMs: number): void {
  for (let time = 0; time < times; time += 1) breaker.succeeded(breaker.begin(nowMs), nowMs)
}

function answerProbe(breaker: Breaker, nowMs: number): void {
  breaker.probeBegan(nowMs)
  breaker.probed(true, nowMs)
}

/** When the next probe is due, to the millisecond. */
function probeDueMs(breaker: Breaker, fromMs: number): number {
  let ms = fromMs
  while (!breaker.isProbeDue(ms)) ms += 1
  return ms
}

function openedAt(nowMs: number, random = MIDDLE): Breaker {
  const breaker = new Breaker(random)
  fail(breaker, 5, nowMs)
  expect(breaker.state).toBe('open')
  return breaker
}

describe('opens', () => {
  test('at the fifth failure in a row', () => {
    const breaker = new Breaker(MIDDLE)
    fail(breaker, 4, 0)
    succeed(breaker, 1, 0)
    fail(breaker, 4, 0)
    expect(breaker.state).toBe('closed')
    expect(breaker.openSinceMs).toBeUndefined()
    fail(breaker, 1, 7)
    expect(breaker.state).toBe('open')
    expect(breaker.openSinceMs).toBe(7)
    expect(breaker.mayBegin(7)).toBe(false)
  })

  test('when half of ten calls have failed, and not of nine', () => {
    const breaker = new Breaker(MIDDLE)
    succeed(breaker, 5, 0)
    fail(breaker, 4, 0)
    expect(breaker.state).toBe('closed')
    fail(breaker, 1, 0)
    expect(breaker.state).toBe('open')
  })

  test('not when fewer than half have failed', () => {
    const breaker = new Breaker(MIDDLE)
    for (let time = 0; time < 200; time += 1) {
      fail(breaker, 1, time)
      succeed(breaker, 2, time)
    }
    fail(breaker, 1, 200)
    expect(breaker.state).toBe('closed')
  })

  test('not for failures before an idle time', () => {
    const breaker = new Breaker(MIDDLE)
    for (let time = 0; time < 4; time += 1) {
      fail(breaker, 1, 0)
      succeed(breaker, 1, 0)
    }
    fail(breaker, 1, 0)
    fail(breaker, 1, 30_000)
    expect(breaker.state).toBe('closed')
  })

  test('for failures that are spread over half a minute', () => {
    const breaker = new Breaker(MIDDLE)
    for (let time = 0; time < 9; time += 1) {
      if (time % 2 === 0) fail(breaker, 1, time * 3_200)
      else succeed(breaker, 1, time * 3_200)
    }
    fail(breaker, 1, 29_000)
    expect(breaker.state).toBe('open')
  })
})

describe('while open', () => {
  test('a probe is due after 5 s ± 20 %, and again so long after one without an answer', () => {
    const shares = [0, 0.5, 0.999_999]
    expect(
      shares.map((share) =>
        probeDueMs(
          openedAt(0, () => share),
          0,
        ),
      ),
    ).toEqual([4_000, 5_000, 6_000])
    const breaker = openedAt(0)
    breaker.probeBegan(6_000)
    expect(breaker.isProbeDue(60_000)).toBe(false)
    breaker.probed(false, 8_000)
    expect(breaker.state).toBe('open')
    expect(probeDueMs(breaker, 8_000)).toBe(13_000)
  })

  test('results of attempts that began before change nothing', () => {
    const breaker = new Breaker(MIDDLE)
    const [good, bad] = [breaker.begin(0), breaker.begin(0)]
    fail(breaker, 5, 0)
    breaker.succeeded(good, 0)
    expect(breaker.state).toBe('open')
    answerProbe(breaker, 5_000)
    breaker.failed(bad, 5_000)
    breaker.succeeded(good, 5_000)
    breaker.withoutVerdict(bad, 5_000)
    expect(breaker.state).toBe('half_open')
    expect(breaker.mayBegin(5_000)).toBe(true)
  })

  test('an attempt that begins all the same counts for nothing, and keeps no place', () => {
    const breaker = openedAt(0)
    const ticket = breaker.begin(0)
    answerProbe(breaker, 5_000)
    breaker.succeeded(ticket, 5_000)
    breaker.failed(ticket, 5_000)
    expect(breaker.state).toBe('half_open')
    expect(breaker.mayBegin(5_000)).toBe(true)
  })

  test('a refused caller is told to come when the probe is due, within 1 to 59 seconds', () => {
    const breaker = openedAt(0)
    expect([0, 2_500, 4_500, 99_000].map((ms) => breaker.retryAfterMs(ms))).toEqual([
      5_000, 2_500, 1_000, 1_000,
    ])
    let ms = 0
    for (let trial = 0; trial < 6; trial += 1) {
      ms += 80_000
      answerProbe(breaker, ms)
      fail(breaker, 1, ms)
    }
    expect(probeDueMs(breaker, ms) - ms).toBe(60_000)
    expect(breaker.retryAfterMs(ms)).toBe(59_000)
  })
})

describe('while half open', () => {
  test('one call at a time tries, and the next if that one ends without a verdict', () => {
    const breaker = openedAt(0)
    answerProbe(breaker, 5_000)
    const trial = breaker.begin(5_000)
    expect(breaker.mayBegin(5_000)).toBe(false)
    const beside = breaker.begin(5_000)
    breaker.withoutVerdict(beside, 5_000)
    expect(breaker.mayBegin(5_000)).toBe(false)
    breaker.withoutVerdict(trial, 5_000)
    expect(breaker.mayBegin(5_000)).toBe(true)
    const next = breaker.begin(5_000)
    breaker.failed(trial, 5_000)
    expect(breaker.state).toBe('half_open')
    breaker.succeeded(next, 5_000)
    expect(breaker.state).toBe('closed')
  })

  test('each trial call that fails doubles the wait from 5 s to 60 s, and a success forgets it', () => {
    const breaker = openedAt(0)
    let ms = 0
    const waits = () =>
      Array.from({ length: 6 }, () => {
        ms += 100_000
        answerProbe(breaker, ms)
        fail(breaker, 1, ms)
        return probeDueMs(breaker, ms) - ms
      })
    expect(waits()).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
    expect(breaker.openSinceMs).toBe(0)
    ms += 100_000
    answerProbe(breaker, ms)
    succeed(breaker, 1, ms)
    fail(breaker, 5, ms)
    expect(breaker.openSinceMs).toBe(ms)
    expect(waits()[0]).toBe(5_000)
  })

  test('once closed, what came before is forgotten', () => {
    const breaker = new Breaker(MIDDLE)
    const before = breaker.begin(0)
    succeed(breaker, 5, 0)
    fail(breaker, 5, 0)
    expect(breaker.state).toBe('open')
    answerProbe(breaker, 5_000)
    succeed(breaker, 1, 5_000)
    expect(breaker.state).toBe('closed')
    fail(breaker, 4, 5_000)
    breaker.failed(before, 5_000)
    expect(breaker.state).toBe('closed')
  })
})

/** What is known of the breaker without knowing how it is built. */
interface Model {
  nowMs: number
  state: Breaker['state']
  /** The number of the period. */
  period: number
  /** Results of this closed period, the oldest first. */
  results: { hasFailed: boolean; atMs: number }[]
  attempts: { ticket: Ticket; period: number; counts: boolean }[]
  /** How often in a row a trial call has failed. */
  failedTrials: number
  isProbing: boolean
  /** Between which times the next probe becomes due. */
  dueFromMs: number
  dueToMs: number
  openedMs: number | undefined
}

function newModel(): Model {
  return {
    nowMs: 0,
    state: 'closed',
    period: 0,
    results: [],
    attempts: [],
    failedTrials: 0,
    isProbing: false,
    dueFromMs: 0,
    dueToMs: 0,
    openedMs: undefined,
  }
}

type Command = fc.Command<Model, Breaker>

function openModel(model: Model, waitMs: number): void {
  model.state = 'open'
  model.period += 1
  model.openedMs ??= model.nowMs
  wait(model, waitMs)
}

function wait(model: Model, waitMs: number): void {
  model.dueFromMs = model.nowMs + 0.8 * waitMs
  model.dueToMs = model.nowMs + 1.2 * waitMs
}

function hasFailedOften({ results, nowMs }: Model): boolean {
  const inARow = results.slice(-5)
  if (inARow.length === 5 && inARow.every(({ hasFailed }) => hasFailed)) return true
  const firstSecond = Math.floor(nowMs / 1_000) - 29
  const recent = results.filter(({ atMs }) => Math.floor(atMs / 1_000) >= firstSecond)
  return recent.length >= 10 && 2 * recent.filter(({ hasFailed }) => hasFailed).length >= recent.length
}

const isTrial =
  (model: Model) =>
  ({ period, counts }: Model['attempts'][number]) =>
    counts && period === model.period
const mayBegin = (model: Model) =>
  model.state === 'closed' || (model.state === 'half_open' && !model.attempts.some(isTrial(model)))

/** By `assert`, which is much faster than `expect` and is called thousands of times. */
function compare(model: Model, breaker: Breaker): void {
  const { nowMs, state, isProbing } = model
  assert.equal(breaker.state, state)
  assert.equal(breaker.openSinceMs, model.openedMs)
  assert.equal(breaker.mayBegin(nowMs), mayBegin(model))
  const isDue = breaker.isProbeDue(nowMs)
  if (state !== 'open' || isProbing || nowMs < model.dueFromMs) assert.equal(isDue, false)
  else if (nowMs > model.dueToMs) assert.equal(isDue, true)
  const retryAfterMs = breaker.retryAfterMs(nowMs)
  assert.ok(retryAfterMs >= 1_000 && retryAfterMs <= 59_000)
}

/** A command that can always be run. */
function command(name: string, run: (model: Model, breaker: Breaker) => void): Command {
  return {
    check: () => true,
    run(model, breaker) {
      run(model, breaker)
      compare(model, breaker)
    },
    toString: () => name,
  }
}

/** Ends the attempt that is so far from the oldest. */
const ending = (
  name: string,
  at: number,
  end: (model: Model, breaker: Breaker, attempt: { ticket: Ticket; counts: boolean }) => void,
) =>
  command(`${name}(${at})`, (model, breaker) => {
    const [attempt] = model.attempts.splice(at % Math.max(1, model.attempts.length), 1)
    if (attempt === undefined) return
    const { ticket, period, counts } = attempt
    end(model, breaker, { ticket, counts: counts && period === model.period })
  })

const pass = (ms: number) =>
  command(`pass(${ms})`, (model) => {
    model.nowMs += ms
  })

const begin = command('begin', (model, breaker) => {
  const counts = mayBegin(model)
  model.attempts.push({ ticket: breaker.begin(model.nowMs), period: model.period, counts })
})

const succeeded = (at: number) =>
  ending('succeeded', at, (model, breaker, { ticket, counts }) => {
    breaker.succeeded(ticket, model.nowMs)
    if (!counts) return
    if (model.state === 'closed') {
      model.results.push({ hasFailed: false, atMs: model.nowMs })
      return
    }
    model.state = 'closed'
    model.period += 1
    model.results = []
    model.failedTrials = 0
    model.openedMs = undefined
  })

const failed = (at: number) =>
  ending('failed', at, (model, breaker, { ticket, counts }) => {
    breaker.failed(ticket, model.nowMs)
    if (!counts) return
    if (model.state === 'half_open') {
      openModel(model, Math.min(60_000, 5_000 * 2 ** model.failedTrials))
      model.failedTrials += 1
      return
    }
    model.results.push({ hasFailed: true, atMs: model.nowMs })
    if (hasFailedOften(model)) openModel(model, 5_000)
  })

const withoutVerdict = (at: number) =>
  ending('withoutVerdict', at, (model, breaker, { ticket }) => breaker.withoutVerdict(ticket, model.nowMs))

const probe: Command = {
  check: (model) => model.state === 'open' && !model.isProbing && model.nowMs > model.dueToMs,
  run(model, breaker) {
    breaker.probeBegan(model.nowMs)
    model.isProbing = true
    compare(model, breaker)
  },
  toString: () => 'probe',
}

const probed = (hasAnswered: boolean): Command => ({
  check: (model) => model.isProbing,
  run(model, breaker) {
    breaker.probed(hasAnswered, model.nowMs)
    model.isProbing = false
    if (hasAnswered) {
      model.state = 'half_open'
      model.period += 1
    } else {
      wait(model, 5_000)
    }
    compare(model, breaker)
  },
  toString: () => `probed(${hasAnswered})`,
})

/** However it stands, a probe that is answered and a call that succeeds close it. */
function closes(breaker: Breaker, model: Model): void {
  let nowMs = model.nowMs
  for (const { ticket } of model.attempts) breaker.withoutVerdict(ticket, nowMs)
  if (breaker.state === 'open') {
    if (!model.isProbing) {
      nowMs += 72_000
      expect(breaker.isProbeDue(nowMs)).toBe(true)
      breaker.probeBegan(nowMs)
    }
    breaker.probed(true, nowMs)
  }
  expect(breaker.mayBegin(nowMs)).toBe(true)
  breaker.succeeded(breaker.begin(nowMs), nowMs)
  expect(breaker.state).toBe('closed')
}

test('in any order of events it is open, half open and closed when it has to be, and can be closed', () => {
  const at = fc.nat({ max: 5 })
  const commands = [
    fc.oneof(fc.nat({ max: 3_000 }), fc.nat({ max: 100_000 })).map(pass),
    fc.constant(begin),
    fc.constant(begin),
    at.map(succeeded),
    // Twice as often as successes, or it would seldom open.
    at.map(failed),
    at.map(failed),
    at.map(withoutVerdict),
    fc.constant(probe),
    fc.boolean().map(probed),
  ]
  const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  /** Whether the commands have reached what the test is about. */
  const seen = new Set<string>()
  fc.assert(
    fc.property(
      fc.commands(commands, { maxCommands: 150, size: 'max' }),
      fc.infiniteStream(share),
      (run, shares) => {
        const breaker = new Breaker(() => shares.next().value ?? 0)
        const model = newModel()
        fc.modelRun(() => ({ model, real: breaker }), run)
        seen.add(model.state)
        if (model.failedTrials > 1) seen.add('several trials')
        closes(breaker, model)
      },
    ),
    { numRuns: process.env.SOAK ? 50_000 : 400 },
  )
  expect([...seen].sort()).toEqual(['closed', 'half_open', 'open', 'several trials'])
})
