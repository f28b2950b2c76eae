import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Breaker, type Ticket } from './breaker.ts'
import type { Caller } from './caller.ts'

/** Without spread: waits are exactly as long as they are on average. */
const MIDDLE = () => 0.5

type Result = 'succeeded' | 'failed' | 'wasUnreachable'

/** The key `ada/1` is one of the owner `ada`. */
function callerOf(key: string): Caller {
  return { owner: key.split('/')[0] ?? key, key }
}

function breakerOf(random = MIDDLE) {
  const breaker = new Breaker(random)
  const test = {
    breaker,
    nowMs: 0,
    begin: (key: string) => breaker.begin(callerOf(key), test.nowMs),
    mayBegin: (key: string) => breaker.mayBegin(callerOf(key), test.nowMs),
    /** Whether a call that arrives is let through; one that is refused may send a probe. */
    arrives: (key: string) => {
      if (test.mayBegin(key)) return true
      if (breaker.refused(callerOf(key), test.nowMs)) test.probes += 1
      return false
    },
    end: (ticket: Ticket, result: Result) => breaker[result](ticket, test.nowMs),
    /** One attempt after the other. */
    ask(keys: readonly string[], result: Result) {
      for (const key of keys) test.end(test.begin(key), result)
    },
    probe(hasAnswered: boolean) {
      breaker.probeBegan()
      breaker.probed(hasAnswered, test.nowMs)
    },
    probes: 0,
  }
  return test
}

const times = (number: number, ...keys: string[]) => Array.from({ length: number }, () => keys).flat()

test('while no calls come, an open breaker is probed once a minute, and is half open once the platform has answered', () => {
  const test = breakerOf()
  test.ask(times(5, 'ada'), 'wasUnreachable')
  const told = () => [test.breaker.stateAt(test.nowMs), test.breaker.isProbeDue(test.nowMs)]
  test.nowMs = 59_999
  expect(told()).toEqual([{ state: 'open', isUnasked: false }, false])
  test.nowMs = 60_000
  expect(told()).toEqual([{ state: 'open', isUnasked: true }, true])
  test.probe(false)
  test.nowMs = 119_999
  expect(told()).toEqual([{ state: 'open', isUnasked: true }, false])
  test.nowMs = 120_000
  expect(told()).toEqual([{ state: 'open', isUnasked: true }, true])
  test.probe(true)
  expect(told()).toEqual([{ state: 'half_open', isUnasked: true }, false])
  expect(test.arrives('bob')).toBe(true)
})

test('a single caller whose next call would be let through leaves the breaker half open', () => {
  const test = breakerOf()
  test.ask(times(5, 'ada/1'), 'failed')
  expect(test.breaker.stateAt(test.nowMs).state).toBe('open')
  test.nowMs = 60_000
  expect(test.breaker.stateAt(test.nowMs)).toEqual({ state: 'half_open', isUnasked: true })
  expect(test.mayBegin('ada/1')).toBe(true)
})

describe('a deployment that cannot be connected to', () => {
  test('is refused to everybody at the fifth failure in a row, whoever has called', () => {
    const test = breakerOf()
    test.ask(times(4, 'ada'), 'wasUnreachable')
    test.ask(['bob'], 'failed')
    test.ask(['ada', 'bob', 'eve', 'zoe'], 'wasUnreachable')
    expect(test.breaker.state).toBe('closed')
    test.ask(['bob'], 'wasUnreachable')
    expect(test.breaker.state).toBe('open')
    expect(['ada', 'bob', 'new'].map(test.mayBegin)).toEqual([false, false, false])
  })

  test('is refused when half of ten calls of 30 s have found no connection, and not of nine', () => {
    const test = breakerOf()
    test.ask(times(5, 'ada'), 'succeeded')
    test.ask(times(4, 'ada'), 'wasUnreachable')
    expect(test.breaker.state).toBe('closed')
    test.ask(['bob'], 'wasUnreachable')
    expect(test.breaker.state).toBe('open')

    const idle = breakerOf()
    for (let time = 0; time < 4; time += 1) {
      idle.ask(['ada'], 'wasUnreachable')
      idle.ask(['ada'], 'succeeded')
    }
    idle.ask(['ada'], 'wasUnreachable')
    idle.nowMs = 30_000
    idle.ask(['ada'], 'wasUnreachable')
    expect(idle.breaker.state).toBe('closed')

    const connected = breakerOf()
    for (let time = 0; time < 200; time += 1) {
      connected.ask(['ada'], 'wasUnreachable')
      connected.ask(['ada', 'bob'], 'succeeded')
    }
    expect(connected.breaker.state).toBe('closed')
  })

  test('is tried by one call, once a probe was answered, and a success ends it', () => {
    const test = breakerOf()
    test.ask(times(5, 'ada'), 'wasUnreachable')
    const late = breakerOf(() => 0.999_999)
    late.ask(times(5, 'ada'), 'wasUnreachable')
    test.nowMs = late.nowMs = 5_000
    expect([test.arrives('ada'), test.probes, late.arrives('ada'), late.probes]).toEqual([false, 1, false, 0])
    test.breaker.probeBegan()
    expect([test.arrives('ada'), test.probes]).toEqual([false, 1])
    test.breaker.probed(true, 5_000)
    expect(test.breaker.state).toBe('half_open')
    const trial = test.begin('ada')
    expect(['ada', 'bob'].map(test.mayBegin)).toEqual([false, false])
    test.breaker.withoutVerdict(trial)
    test.end(test.begin('bob'), 'succeeded')
    expect([test.breaker.state, test.mayBegin('ada')]).toEqual(['closed', true])
  })

  test('each trial that finds no connection doubles the wait for the next from 5 s to 60 s', () => {
    const test = breakerOf()
    test.ask(times(5, 'ada'), 'wasUnreachable')
    const waits = Array.from({ length: 6 }, () => {
      test.nowMs += 100_000
      test.probe(true)
      test.ask(['ada'], 'wasUnreachable')
      return [test.breaker.retryAfterMs(callerOf('ada'), test.nowMs), test.breaker.state]
    })
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 59_000, 59_000].map((ms) => [ms, 'open']))
  })

  test('a trial that fails after it was connected ends it, since its input may be the cause', () => {
    const test = breakerOf()
    test.ask(times(5, 'ada'), 'wasUnreachable')
    test.nowMs = 5_000
    test.probe(true)
    test.ask(['eve'], 'failed')
    expect([test.breaker.state, test.mayBegin('ada')]).toEqual(['closed', true])
  })

  test('a trial that hangs holds up its own owner, and others no longer than 5 s', () => {
    const test = breakerOf()
    test.ask(times(5, 'ada'), 'wasUnreachable')
    test.nowMs = 5_000
    test.probe(true)
    test.begin('eve')
    test.nowMs = 9_999
    expect(test.mayBegin('ada')).toBe(false)
    test.nowMs = 10_000
    expect([test.mayBegin('ada'), test.mayBegin('eve')]).toEqual([true, false])
  })

  test('results of attempts that began before change nothing, when it is open and when it is closed again', () => {
    const test = breakerOf()
    const [good, bad] = [test.begin('ada'), test.begin('ada')]
    test.ask(times(5, 'ada'), 'wasUnreachable')
    test.end(good, 'succeeded')
    expect(test.breaker.state).toBe('open')
    test.probe(true)
    test.nowMs = 5_000
    test.probe(true)
    test.ask(['ada'], 'succeeded')
    test.ask(times(4, 'ada'), 'wasUnreachable')
    test.end(bad, 'wasUnreachable')
    expect(test.breaker.state).toBe('closed')
  })
})

describe('failures that an input may have caused', () => {
  test('refuse their owner and nobody else after five in a row, or five at once', () => {
    const test = breakerOf()
    test.ask(['ada'], 'succeeded')
    const atOnce = times(10, 'eve').map(test.begin)
    const other = test.begin('ada')
    for (const ticket of atOnce) test.end(ticket, 'failed')
    expect([test.mayBegin('eve'), test.mayBegin('ada'), test.breaker.state]).toEqual([false, true, 'closed'])
    test.end(other, 'succeeded')
    test.nowMs = 5_000
    expect(test.mayBegin('eve')).toBe(true)
    test.begin('eve')
    expect(test.mayBegin('eve')).toBe(false)
  })

  test('refuse all that have failed after five of two owners without a success, and let others try one at a time', () => {
    const test = breakerOf()
    test.ask(['ada', 'bob', 'ada', 'bob'], 'failed')
    expect([test.breaker.state, test.mayBegin('ada')]).toEqual(['closed', true])
    test.ask(['ada'], 'failed')
    expect(test.breaker.state).toBe('open')
    expect(['ada', 'bob', 'eve'].map(test.mayBegin)).toEqual([false, false, true])
    const trial = test.begin('eve')
    expect([test.breaker.state, test.mayBegin('zoe'), test.mayBegin('eve')]).toEqual([
      'half_open',
      false,
      false,
    ])
    test.end(trial, 'failed')
    expect([test.mayBegin('eve'), test.mayBegin('zoe')]).toEqual([false, true])
    test.ask(['zoe'], 'succeeded')
    expect([test.breaker.state, test.mayBegin('ada')]).toEqual(['closed', true])
  })

  test('refuse nobody else if anybody has succeeded since the first of them, or over more than 30 s', () => {
    const test = breakerOf()
    test.ask(['ada', 'bob', 'ada', 'bob'], 'failed')
    test.ask(['eve'], 'succeeded')
    test.ask(['ada', 'bob', 'ada', 'bob'], 'failed')
    test.nowMs = 30_000
    test.ask(['bob', 'ada'], 'failed')
    expect(test.breaker.state).toBe('closed')
  })

  test('leave the trial after an opening to those who have not caused it, while others come', () => {
    const test = breakerOf()
    test.ask(['ada', 'bob', 'ada', 'bob', 'ada'], 'failed')
    test.nowMs = 4_999
    const other = test.begin('zoe')
    test.nowMs = 5_000
    test.probe(true)
    expect([test.mayBegin('ada'), test.mayBegin('bob')]).toEqual([false, false])
    test.nowMs = 9_999
    expect(test.mayBegin('ada')).toBe(true)
    test.begin('ada')
    // It has a place of its own, so that those who have not caused it are not held up.
    expect(test.mayBegin('bob')).toBe(false)
    test.breaker.withoutVerdict(other)
    expect(test.mayBegin('zoe')).toBe(true)
  })

  test('are kept by key for an owner that calls alone, and never concern another owner then', () => {
    const test = breakerOf()
    test.ask(times(5, 'eve/1'), 'failed')
    expect(['eve/1', 'eve/2'].map(test.mayBegin)).toEqual([false, true])
    expect(test.breaker.state).toBe('open')
    test.ask(['eve/2'], 'failed')
    expect(['eve/1', 'eve/2', 'eve/3'].map(test.mayBegin)).toEqual([false, false, true])
    // No other owner is held up, however many calls come at once.
    for (let call = 0; call < 5; call += 1) {
      expect(test.mayBegin('ada')).toBe(true)
      test.begin('ada')
    }
    expect(test.breaker.state).toBe('closed')
    expect(test.mayBegin('eve/3')).toBe(false)
  })

  test('do not concern an owner that calls alone after the one that had them has gone', () => {
    const test = breakerOf()
    test.ask(['eve/1', 'eve/2', 'eve/1', 'eve/2', 'eve/1'], 'failed')
    expect(test.breaker.state).toBe('open')
    test.nowMs = 31_000
    for (let call = 0; call < 5; call += 1) {
      expect(test.mayBegin('ada/1')).toBe(true)
      test.begin('ada/1')
    }
  })

  test('let a refused owner try again as soon as the platform answers probes again', () => {
    const test = breakerOf()
    test.ask(times(5, 'ada'), 'failed')
    for (const ms of [5_000, 15_000, 35_000]) {
      test.nowMs = ms
      test.ask(['ada'], 'failed')
    }
    expect([test.arrives('ada'), test.probes]).toEqual([false, 1])
    test.probe(true)
    expect(test.mayBegin('ada')).toBe(false)
    test.nowMs = 41_000
    expect([test.arrives('ada'), test.probes]).toEqual([false, 2])
    test.probe(false)
    test.nowMs = 47_000
    test.probe(true)
    expect(test.mayBegin('ada')).toBe(true)
  })
})

/** What the platform makes of a call: of the attackers' it may fail any, of the others' none. */
const ATTACKER = 'eve'

test('whatever one owner causes, no call of another one is refused', () => {
  const key = fc.constantFrom('eve/1', 'eve/1', 'eve/2', 'eve/3', 'ada/1', 'ada/2', 'bob/1')
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('call' as const), key }) },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('end' as const),
        at: fc.nat({ max: 5 }),
        works: fc.constantFrom(false, false, false, true),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), at: fc.nat({ max: 5 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat({ max: 40_000 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('probe' as const), answers: fc.boolean() }) },
  )
  let refusals = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150, size: 'max' }), (steps) => {
      const test = breakerOf()
      const running: Ticket[] = []
      for (const each of steps) {
        if (each.kind === 'pass') test.nowMs += each.ms
        else if (each.kind === 'probe') test.probe(each.answers)
        else if (each.kind === 'call') {
          const passes = test.arrives(each.key)
          if (passes) running.push(test.begin(each.key))
          else refusals += 1
          assert.ok(passes || each.key.startsWith(ATTACKER), 'refused by the fault of another')
        } else {
          const [ticket] = running.splice(each.at % Math.max(1, running.length), 1)
          if (ticket === undefined) continue
          const hasFailed = each.kind === 'end' && !each.works && ticket.caller.owner === ATTACKER
          if (each.kind === 'leave') test.breaker.withoutVerdict(ticket)
          else test.end(ticket, hasFailed ? 'failed' : 'succeeded')
        }
      }
    }),
    { numRuns: process.env.SOAK ? 50_000 : 400 },
  )
  expect(refusals).toBeGreaterThan(100)
})

test('a deployment that fails for everybody is soon asked by no more than trials, and used again once it works', () => {
  const owner = fc.constantFrom('ada', 'bob', 'eve', 'zoe', 'max')
  const result = fc.constantFrom('failed' as const, 'wasUnreachable' as const)
  const call = fc.record({ owner, result, passMs: fc.nat({ max: 4_000 }) })
  fc.assert(
    fc.property(fc.array(call, { minLength: 100, maxLength: 200 }), (calls) => {
      const test = breakerOf()
      let asked = 0
      for (const each of calls) {
        test.nowMs += each.passMs
        if (test.arrives(each.owner)) {
          asked += 1
          test.ask([each.owner], each.result)
        }
        if (test.probes > 0) test.probe(true)
        test.probes = 0
      }
      // At most nine until it is open, whatever the mixture, one of each owner, and a trial in 5 s at most.
      assert.ok(asked <= 9 * 5 + test.nowMs / 4_000, `${asked} of ${calls.length} calls in ${test.nowMs} ms`)
      test.nowMs += 80_000
      for (const each of ['ada', 'bob', 'eve', 'zoe', 'max']) {
        if (!test.arrives(each)) test.probe(true)
        test.nowMs += 5_000
        if (test.arrives(each)) test.ask([each], 'succeeded')
      }
      assert.deepEqual(['ada', 'bob', 'eve', 'zoe', 'max'].map(test.mayBegin), [true, true, true, true, true])
      assert.equal(test.breaker.state, 'closed')
    }),
    { numRuns: process.env.SOAK ? 20_000 : 200 },
  )
})
