import type { Caller } from './caller.ts'
import { Longest } from './longest.ts'

/** A call that waits for a slot. */
export interface Waiter {
  /** Calls of different owners take turns, and so do the keys of an owner. */
  readonly caller: Caller
  /** Starts the call if it finds a slot. If this returns true, the call waits no longer. Must not throw. */
  tryStart(): boolean
  /** The call has lost its place in the queue. */
  shed(): void
}

const ALWAYS = () => true

/** A waiter's place in the line of its key. */
interface Place {
  readonly waiter: Waiter
  readonly line: Line
  ahead: Place | undefined
  behind: Place | undefined
}

/** The waiters of one key, in the order of their arrival. */
interface Line {
  readonly caller: Caller
  readonly owner: OwnerLines
  length: number
  first: Place | undefined
  last: Place | undefined
  /** The next that is tried in the current round, and the number of the round in which it was set. */
  next: Place | undefined
  round: number
}

/** The lines of one owner's keys. */
interface OwnerLines {
  readonly owner: string
  /** How many calls wait. */
  length: number
  /** In the order of their turns. A line that has had one goes to the end. */
  readonly lines: Map<string, Line>
  readonly longest: Longest<Line>
  /** The lines that are still to be tried in the current round, and the number of the round in which it was set. */
  turns: Iterator<Line>
  round: number
}

/**
 * Calls that wait for slots. Owners take turns, so that many keys of one get no more than its share; within an owner its keys take
 * turns, and within a key the first that came is the first that starts. No operation but {@link FairQueue.serve} and
 * {@link FairQueue.drain} looks at more than a few places, and nothing is kept of those whose calls wait no longer.
 */
export class FairQueue {
  /** The most calls that wait. Those that do are not shed when it is lowered. */
  max: number
  readonly #places = new Map<Waiter, Place>()
  /** In the order of their turns. An owner that has had one goes to the end. */
  readonly #owners = new Map<string, OwnerLines>()
  readonly #longest = new Longest<OwnerLines>()
  #round = 0
  #isServing = false
  #serveAgain = false

  constructor(max = 0) {
    this.max = max
  }

  get size(): number {
    return this.#places.size
  }

  /**
   * Adds a call that has found no slot. Returns false if there is no room for it. If the queue is full, and another owner has so
   * many places that it still has at least as many as the newcomer's after giving one away, the newest call of its key with most is
   * shed. Otherwise the same holds among the keys of the newcomer's owner.
   */
  add(waiter: Waiter): boolean {
    let shed: Waiter | undefined
    if (this.size >= this.max) {
      shed = this.#toShedFor(waiter.caller)
      if (shed === undefined) return false
      this.remove(shed)
    }
    this.#join(waiter)
    shed?.shed()
    return true
  }

  /** Removes a call that waits no longer. Does nothing if it is not in the queue. */
  remove(waiter: Waiter): void {
    const place = this.#places.get(waiter)
    if (place === undefined) return
    const { line, ahead, behind } = place
    this.#places.delete(waiter)
    if (ahead === undefined) line.first = behind
    else ahead.behind = behind
    if (behind === undefined) line.last = ahead
    else behind.ahead = ahead
    if (line.next === place) line.next = behind
    this.#resize(line, -1)
  }

  /**
   * Starts the calls that can start, after a slot has become free. One that cannot start, since it waits for another deployment
   * than the free one, does not hold up those behind it. Each is tried once.
   *
   * @param mayStart - whether calls of a key may start at all, which is cheaper than to try each of them
   */
  serve(mayStart: (caller: Caller) => boolean = ALWAYS): void {
    if (this.#isServing) {
      this.#serveAgain = true
      return
    }
    this.#isServing = true
    try {
      do this.#serveAgain = false
      while (this.#serveRound(mayStart) && this.#serveAgain)
    } finally {
      this.#isServing = false
    }
  }

  /** Sheds all. */
  drain(): void {
    const waiters = [...this.#places.keys()]
    for (const waiter of waiters) this.remove(waiter)
    for (const waiter of waiters) waiter.shed()
  }

  /** Returns whether any call has started. */
  #serveRound(mayStart: (caller: Caller) => boolean): boolean {
    let hasStarted = false
    this.#round += 1
    // The loop comes again to an owner that goes to the end during it.
    for (const owner of this.#owners.values()) {
      if (!this.#startOneOfOwner(owner, mayStart)) continue
      hasStarted = true
      if (owner.length > 0) moveToEnd(this.#owners, owner.owner, owner)
    }
    return hasStarted
  }

  /** Tries the calls of an owner, from the first that was not tried in this round, until one starts. */
  #startOneOfOwner(owner: OwnerLines, mayStart: (caller: Caller) => boolean): boolean {
    if (owner.round !== this.#round) {
      owner.round = this.#round
      owner.turns = owner.lines.values()
    }
    // It comes again to a line that goes to the end.
    for (let turn = owner.turns.next(); turn.done !== true; turn = owner.turns.next()) {
      const line = turn.value
      if (!mayStart(line.caller) || !this.#startOneOf(line)) continue
      if (line.length > 0) moveToEnd(owner.lines, line.caller.key, line)
      return true
    }
    return false
  }

  /** Tries the calls of a line, from the first that was not tried in this round, until one starts. */
  #startOneOf(line: Line): boolean {
    if (line.round !== this.#round) {
      line.round = this.#round
      line.next = line.first
    }
    while (line.next !== undefined) {
      const { waiter, behind } = line.next
      // Set first, because the call may be removed while it is tried; `remove` keeps it right.
      line.next = behind
      if (!waiter.tryStart()) continue
      this.remove(waiter)
      return true
    }
    return false
  }

  #toShedFor({ owner, key }: Caller): Waiter | undefined {
    const own = this.#owners.get(owner)
    // If both had the same number, the two would only have changed places, and the next call would change them back.
    if ((own?.length ?? 0) + 1 < this.#longest.length) return this.#longest.any?.longest.any?.last?.waiter
    const length = own?.lines.get(key)?.length ?? 0
    return own !== undefined && length + 1 < own.longest.length ? own.longest.any?.last?.waiter : undefined
  }

  #join(waiter: Waiter): void {
    const line = this.#lineOf(waiter.caller)
    const place: Place = { waiter, line, ahead: line.last, behind: undefined }
    this.#places.set(waiter, place)
    if (line.last === undefined) line.first = place
    else line.last.behind = place
    line.last = place
    this.#resize(line, 1)
  }

  #lineOf(caller: Caller): Line {
    let owner = this.#owners.get(caller.owner)
    if (owner === undefined) {
      const lines = new Map<string, Line>()
      owner = {
        owner: caller.owner,
        length: 0,
        lines,
        longest: new Longest(),
        turns: lines.values(),
        round: 0,
      }
      this.#owners.set(caller.owner, owner)
    }
    let line = owner.lines.get(caller.key)
    if (line === undefined) {
      line = { caller, owner, length: 0, first: undefined, last: undefined, next: undefined, round: 0 }
      owner.lines.set(caller.key, line)
    }
    return line
  }

  #resize(line: Line, by: 1 | -1): void {
    const { owner, caller } = line
    owner.longest.resize(line, line.length + by)
    this.#longest.resize(owner, owner.length + by)
    if (line.length === 0) owner.lines.delete(caller.key)
    if (owner.length === 0) this.#owners.delete(caller.owner)
  }
}

function moveToEnd<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name)
  map.set(name, value)
}
