import { RecentMap } from './recent-map.ts'

/** How long a run that nobody cancels goes on waiting after its client has left. */
const GRACE_MS = 1_000

interface Hold {
  readonly over: Promise<void>
  readonly end: () => void
}

/** Runs whose model waits amid an answer, because a fault strikes the connection of its client. */
export class Holds {
  readonly #holds = new RecentMap<Hold>()

  /** Resolves when the model is to go on. */
  over(run: string): Promise<void> {
    return this.#find(run).over
  }

  /** Lets the model go on, if nobody cancels the run meanwhile. */
  endSoon(run: string): void {
    setTimeout(this.#find(run).end, GRACE_MS).unref()
  }

  #find(run: string): Hold {
    const known = this.#holds.get(run)
    if (known !== undefined) return known
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    const hold = { over, end }
    this.#holds.set(run, hold)
    return hold
  }
}
