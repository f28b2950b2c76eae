/** A call that waits for a slot. */
export interface Waiter {
  /** Calls of different keys take turns. */
  readonly key: string
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
  readonly key: string
  length: number
  first: Place | undefined
  last: Place | undefined
  /** The next that is asked in the current round, and the number of the round in which it was set. */
  next: Place | undefined
  round: number
}

/**
 * Calls that wait for slots. Keys take turns, and within a key the first that came is the first that starts. No operation but
 * {@link FairQueue.serve} and {@link FairQueue.drain} looks at more than a few places, and nothing is kept of a key whose calls
 * wait no longer.
 */
export class FairQueue {
  readonly #max: number
  readonly #places = new Map<Waiter, Place>()
  /** In the order of their turns. A line that has had one goes to the end. */
  readonly #lines = new Map<string, Line>()
  readonly #linesByLength = new Map<number, Set<Line>>()
  #longest = 0
  #round = 0
  #isServing = false
  #serveAgain = false

  /** @param max - the most calls that wait */
  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#places.size
  }

  /**
   * Adds a call that has found no slot. Returns false if there is no room for it. If the queue is full, and another key has so
   * many places that it still has at least as many as the newcomer's after giving one away, its newest call is shed.
   */
  add(waiter: Waiter): boolean {
    let shed: Waiter | undefined
    if (this.size >= this.#max) {
      shed = this.#toShedFor(waiter.key)
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
    this.#resize(line, line.length - 1)
    if (line.length === 0) this.#lines.delete(line.key)
  }

  /**
   * Starts the calls that can start, after a slot has become free. One that cannot start, since it waits for another deployment
   * than the free one, does not hold up those behind it. Each is asked once.
   *
   * @param mayStart - whether calls of a key may start at all, which is cheaper than to ask each of them
   */
  serve(mayStart: (key: string) => boolean = ALWAYS): void {
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
  #serveRound(mayStart: (key: string) => boolean): boolean {
    let hasStarted = false
    this.#round += 1
    // The loop comes again to a line that goes to the end during it.
    for (const line of this.#lines.values()) {
      if (!mayStart(line.key) || !this.#startOneOf(line)) continue
      hasStarted = true
      if (line.length === 0) continue
      this.#lines.delete(line.key)
      this.#lines.set(line.key, line)
    }
    return hasStarted
  }

  /** Asks the calls of a line, from the first that was not asked in this round, until one starts. */
  #startOneOf(line: Line): boolean {
    if (line.round !== this.#round) {
      line.round = this.#round
      line.next = line.first
    }
    while (line.next !== undefined) {
      const { waiter, behind } = line.next
      // Set first, because the call may be removed while it is asked; `remove` keeps it right.
      line.next = behind
      if (!waiter.tryStart()) continue
      this.remove(waiter)
      return true
    }
    return false
  }

  #toShedFor(key: string): Waiter | undefined {
    const length = this.#lines.get(key)?.length ?? 0
    // If both had the same number, the two keys would only have changed places, and the next call would change them back.
    if (length + 1 >= this.#longest) return undefined
    const [longest] = this.#linesByLength.get(this.#longest) ?? []
    return longest?.last?.waiter
  }

  #join(waiter: Waiter): void {
    const { key } = waiter
    let line = this.#lines.get(key)
    if (line === undefined) {
      line = { key, length: 0, first: undefined, last: undefined, next: undefined, round: 0 }
      this.#lines.set(key, line)
    }
    const place: Place = { waiter, line, ahead: line.last, behind: undefined }
    this.#places.set(waiter, place)
    if (line.last === undefined) line.first = place
    else line.last.behind = place
    line.last = place
    this.#resize(line, line.length + 1)
  }

  /** Keeps the lines sorted by their lengths, which change by one. */
  #resize(line: Line, length: number): void {
    const before = this.#linesByLength.get(line.length)
    before?.delete(line)
    if (before?.size === 0) this.#linesByLength.delete(line.length)
    const wasLongest = line.length === this.#longest && !this.#linesByLength.has(line.length)
    line.length = length
    if (length > this.#longest || wasLongest) this.#longest = length
    if (length === 0) return
    const lines = this.#linesByLength.get(length)
    if (lines === undefined) this.#linesByLength.set(length, new Set([line]))
    else lines.add(line)
  }
}
