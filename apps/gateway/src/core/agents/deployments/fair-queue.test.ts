import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Caller } from './caller.ts'
import { FairQueue, type Waiter } from './fair-queue.ts'

interface TestWaiter extends Waiter {
  readonly name: string
}

/** A queue whose calls start while there are free slots, and what became of them. */
function queueOf(max: number, names: readonly string[] = []) {
  const queue = new FairQueue(max)
  const started: string[] = []
  const shed: string[] = []
  const held = new Set<string>()
  const test = { queue, started, shed, held, slots: 0, asked: 0, waiter }

  /** A call whose key is the first letter of its name; a capital letter before it is the owner, else each key has its own. */
  function waiter(name: string): TestWaiter {
    const [, owner = '', key = ''] = /^([A-Z]?)([a-z])/.exec(name) ?? []
    return {
      name,
      caller: { owner: owner || key, key },
      tryStart() {
        test.asked += 1
        if (test.slots === 0 || held.has(name)) return false
        test.slots -= 1
        started.push(name)
        return true
      },
      shed: () => shed.push(name),
    }
  }

  for (const name of names) expect(queue.add(waiter(name))).toBe(true)
  return test
}

describe('turns', () => {
  test('keys take turns, and the first of a key starts first', () => {
    const test = queueOf(9, ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'])
    for (let slot = 0; slot < 6; slot += 1) {
      test.slots = 1
      test.queue.serve()
    }
    expect(test.started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
    expect(test.queue.size).toBe(0)
  })

  test('owners take turns, whatever the number of their keys, and their keys take turns within them', () => {
    const test = queueOf(9, ['Aa1', 'Aa2', 'Ab1', 'Ac1', 'Bd1', 'Bd2', 'Be1', 'f1'])
    for (let slot = 0; slot < 8; slot += 1) {
      test.slots = 1
      test.queue.serve()
    }
    expect(test.started).toEqual(['Aa1', 'Bd1', 'f1', 'Ab1', 'Be1', 'Ac1', 'Bd2', 'Aa2'])
  })

  test('a key that may not start does not hold up the other keys of its owner', () => {
    const test = queueOf(9, ['Aa1', 'Ab1', 'Ab2', 'Bd1'])
    test.slots = 9
    test.queue.serve(({ key }) => key !== 'a')
    expect(test.started).toEqual(['Ab1', 'Bd1', 'Ab2'])
    test.queue.serve()
    expect(test.started).toEqual(['Ab1', 'Bd1', 'Ab2', 'Aa1'])
  })

  test('slots that become free at once are given in the same order', () => {
    const test = queueOf(9, ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'])
    test.slots = 5
    test.queue.serve()
    expect(test.started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2'])
  })

  test('one that cannot start holds up nobody, and keeps its turn', () => {
    const test = queueOf(9, ['a1', 'a2', 'b1', 'c1'])
    test.held.add('a1').add('b1')
    test.slots = 1
    test.queue.serve()
    expect(test.started).toEqual(['a2'])
    test.held.clear()
    test.slots = 3
    test.queue.serve()
    expect(test.started).toEqual(['a2', 'b1', 'c1', 'a1'])
  })

  test('a key that has just had a turn comes after all that wait', () => {
    const test = queueOf(9, ['a1', 'b1'])
    test.slots = 1
    test.queue.serve()
    test.queue.add(test.waiter('a2'))
    test.queue.add(test.waiter('c1'))
    test.slots = 3
    test.queue.serve()
    expect(test.started).toEqual(['a1', 'b1', 'a2', 'c1'])
  })

  test('calls of a key that may not start are not asked', () => {
    const test = queueOf(9, ['a1', 'a2', 'b1'])
    test.slots = 3
    test.queue.serve(({ key }) => key === 'b')
    expect(test.started).toEqual(['b1'])
    expect(test.asked).toBe(1)
  })

  test('a slot that becomes free while another call starts is used as well', () => {
    const test = queueOf(9)
    let isFree = true
    const take = (name: string, then: () => void) => ({
      caller: { owner: name, key: name },
      tryStart() {
        if (!isFree) return false
        isFree = false
        test.started.push(name)
        then()
        return true
      },
      shed: () => undefined,
    })
    const free = () => {
      isFree = true
      test.queue.serve()
    }
    test.queue.add(test.waiter('z1'))
    for (const name of ['a', 'b']) test.queue.add(take(name, free))
    test.slots = 0
    test.queue.add(take('c', () => undefined))
    test.queue.serve()
    expect(test.started).toEqual(['a', 'b', 'c'])
    expect(test.queue.size).toBe(1)
  })

  test('a call that ends its neighbour while it starts is not followed by it', () => {
    const test = queueOf(9)
    const second = test.waiter('a2')
    const startOf = () => {
      test.queue.remove(second)
      return true
    }
    test.queue.add({ ...test.waiter('a1'), tryStart: startOf })
    test.queue.add(second)
    test.queue.add(test.waiter('a3'))
    test.slots = 2
    test.queue.serve()
    expect(test.started).toEqual(['a3'])
  })
})

describe('room', () => {
  test('a full queue refuses', () => {
    const test = queueOf(2, ['a1', 'b1'])
    expect(test.queue.add(test.waiter('c1'))).toBe(false)
    expect(test.shed).toEqual([])
    expect(queueOf(0).queue.add(test.waiter('a1'))).toBe(false)
  })

  test('one key cannot fill it: others take the places of its newest calls, down to an equal share', () => {
    const test = queueOf(4, ['a1', 'a2', 'a3', 'a4'])
    expect(test.queue.add(test.waiter('a5'))).toBe(false)
    expect(test.queue.add(test.waiter('b1'))).toBe(true)
    expect(test.queue.add(test.waiter('b2'))).toBe(true)
    expect(test.queue.add(test.waiter('b3'))).toBe(false)
    expect(test.queue.add(test.waiter('a5'))).toBe(false)
    expect(test.queue.add(test.waiter('c1'))).toBe(true)
    expect(test.shed).toHaveLength(3)
    expect(test.shed.slice(0, 2)).toEqual(['a4', 'a3'])
    expect(test.queue.size).toBe(4)
  })

  test('many keys of one owner have no more places than one key', () => {
    const test = queueOf(4, ['Aa1', 'Ab1', 'Ac1', 'Ac2'])
    expect(test.queue.add(test.waiter('d1'))).toBe(true)
    expect(test.queue.add(test.waiter('d2'))).toBe(true)
    expect(test.queue.add(test.waiter('d3'))).toBe(false)
    expect(test.queue.add(test.waiter('Ae1'))).toBe(false)
    // The newest call of the key with most, and then of one of those with as many.
    expect(test.shed[0]).toBe('Ac2')
    expect(test.shed).toHaveLength(2)
  })

  test('a key cannot take all places of its owner from the other keys', () => {
    const test = queueOf(4, ['Aa1', 'Aa2', 'Aa3', 'd1'])
    expect(test.queue.add(test.waiter('Ab1'))).toBe(true)
    expect(test.queue.add(test.waiter('Ab2'))).toBe(false)
    expect(test.shed).toEqual(['Aa3'])
  })

  test('two keys with as many calls do not push each other out', () => {
    const test = queueOf(3, ['a1', 'a2', 'b1'])
    expect(test.queue.add(test.waiter('b2'))).toBe(false)
    expect(test.shed).toEqual([])
  })

  test('a call that leaves makes room', () => {
    const test = queueOf(3)
    const waiters = ['a1', 'a2', 'a3'].map((name) => test.waiter(name))
    for (const waiter of waiters) test.queue.add(waiter)
    for (const waiter of [waiters[1], waiters[1]]) if (waiter !== undefined) test.queue.remove(waiter)
    expect(test.queue.size).toBe(2)
    expect(test.queue.add(test.waiter('a4'))).toBe(true)
    test.slots = 3
    test.queue.serve()
    expect(test.started).toEqual(['a1', 'a3', 'a4'])
  })

  test('draining sheds all, and those may come again', () => {
    const test = queueOf(3, ['a1', 'b1', 'a2'])
    test.queue.drain()
    expect(test.shed).toEqual(['a1', 'b1', 'a2'])
    expect(test.queue.size).toBe(0)
    test.slots = 9
    test.queue.serve()
    expect(test.started).toEqual([])
  })
})

/** A call that waits for a slot of one deployment. */
interface Waiting extends Waiter {
  readonly place: number
  readonly number: number
}

/** Which owners waited at the last start of an owner, and which have started since. */
interface SinceStart {
  readonly waiting: Set<Waiting>
  readonly started: Set<string>
}

/** What is known of the queue without knowing how it is built. By `assert`, which is much faster than `expect`. */
class Model {
  readonly queue = new FairQueue(MAX)
  /** Those that wait, the oldest first. */
  readonly waiting: Waiting[] = []
  readonly free = [0, 0, 0]
  readonly #sinceStart = { owner: new Map<string, SinceStart>(), key: new Map<string, SinceStart>() }
  #newcomer: Caller | undefined
  #asked = new Set<Waiting>()
  #isServing = false
  #number = 0

  add(caller: Caller, place: number): void {
    const count = this.waiting.length
    this.#number += 1
    const waiter: Waiting = {
      caller,
      place,
      number: this.#number,
      tryStart: () => this.#tryStart(waiter),
      shed: () => this.#shed(waiter),
    }
    this.#newcomer = caller
    const hasRoom =
      count < MAX ||
      this.#takesFrom('owner', this.waiting, caller) ||
      this.#takesFrom('key', this.#ofOwner(caller), caller)
    assert.equal(this.queue.add(waiter), hasRoom)
    if (hasRoom) this.waiting.push(waiter)
    assert.equal(this.waiting.length, hasRoom ? Math.min(count + 1, MAX) : count)
  }

  remove(at: number): void {
    const [waiter] = this.waiting.splice(at % Math.max(1, this.waiting.length), 1)
    if (waiter !== undefined) this.queue.remove(waiter)
  }

  serve(): void {
    this.#asked = new Set()
    this.#isServing = true
    this.queue.serve()
    this.#isServing = false
    const couldStart = this.waiting.filter(({ place }) => this.free[place] !== 0)
    assert.equal(couldStart.length, 0, 'no slot stays free for which a call waits')
  }

  #tryStart(waiter: Waiting): boolean {
    assert.ok(this.#isServing && this.waiting.includes(waiter))
    assert.ok(!this.#asked.has(waiter), 'each is asked once')
    this.#asked.add(waiter)
    const { caller, place } = waiter
    const free = this.free[place] ?? 0
    if (free === 0) return false
    const earlier = this.#ofKey(caller).filter(
      (other) => other.place === place && other.number < waiter.number,
    )
    assert.equal(earlier.length, 0, 'the first of a key starts first')
    this.#requireTurns('owner', waiter, this.waiting)
    this.#requireTurns('key', waiter, this.#ofOwner(caller))
    this.free[place] = free - 1
    this.waiting.splice(this.waiting.indexOf(waiter), 1)
    for (const level of LEVELS) {
      for (const { started } of this.#sinceStart[level].values()) started.add(caller[level])
      this.#sinceStart[level].set(caller[level], { waiting: new Set(this.waiting), started: new Set() })
    }
    return true
  }

  /** Between two starts of the same, all others start that could. */
  #requireTurns(level: keyof Caller, { caller, place }: Waiting, among: readonly Waiting[]): void {
    const since = this.#sinceStart[level].get(caller[level])
    for (const other of among) {
      if (other.place !== place || other.caller[level] === caller[level] || !since?.waiting.has(other))
        continue
      assert.ok(since.started.has(other.caller[level]), 'the others start between')
    }
  }

  #shed(waiter: Waiting): void {
    const { caller } = waiter
    assert.equal(this.#ofKey(caller).at(-1), waiter, 'the newest of its key')
    assert.equal(this.#ofKey(caller).length, longest('key', this.#ofOwner(caller)), 'of the key with most')
    if (caller.owner !== this.#newcomer?.owner)
      assert.equal(this.#ofOwner(caller).length, longest('owner', this.waiting), 'of an owner with most')
    this.waiting.splice(this.waiting.indexOf(waiter), 1)
  }

  #takesFrom(level: keyof Caller, among: readonly Waiting[], caller: Caller): boolean {
    return countOf(level, among, caller[level]) + 1 < longest(level, among)
  }

  #ofOwner({ owner }: Caller): readonly Waiting[] {
    return this.waiting.filter(({ caller }) => caller.owner === owner)
  }

  #ofKey({ key }: Caller): readonly Waiting[] {
    return this.waiting.filter(({ caller }) => caller.key === key)
  }
}

const MAX = 8
const LEVELS = ['owner', 'key'] as const

function countOf(level: keyof Caller, among: readonly Waiting[], name: string): number {
  return among.filter(({ caller }) => caller[level] === name).length
}

function longest(level: keyof Caller, among: readonly Waiting[]): number {
  return Math.max(0, ...among.map(({ caller }) => countOf(level, among, caller[level])))
}

test('in any order of events the queue is fair, bounded and leaves no slot unused', () => {
  const caller = fc.constantFrom('Aa', 'Ab', 'Ac', 'Bd', 'Be', 'Cf').map((name) => ({
    owner: name.slice(0, 1),
    key: name.slice(1),
  }))
  const place = fc.nat({ max: 2 })
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), caller, place }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('free' as const), place, serves: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), at: fc.nat({ max: 7 }) }) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150, size: 'max' }), (steps) => {
      const model = new Model()
      for (const each of steps) {
        if (each.kind === 'add') model.add(each.caller, each.place)
        else if (each.kind === 'remove') model.remove(each.at)
        else {
          model.free[each.place] = (model.free[each.place] ?? 0) + 1
          if (each.serves) model.serve()
        }
        assert.equal(model.queue.size, model.waiting.length)
      }
    }),
    { numRuns: process.env.SOAK ? 50_000 : 400 },
  )
})
