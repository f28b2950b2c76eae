import type { Caller } from '#core/agents/deployments/caller.ts'
import type { Concurrency } from '#core/agents/served-agent.ts'

/** The slots of an agent that calls in progress hold, in all and by owner and key. */
export class HeldSlots {
  /** May change while calls run; undefined for none. */
  bounds: Pick<Concurrency, 'max' | 'perOwner' | 'perKey'> | undefined
  readonly #byOwner = new Map<string, number>()
  readonly #byKey = new Map<string, number>()
  #all = 0

  get all(): number {
    return this.#all
  }

  /** Whether one more call of this caller may begin. */
  hasRoom({ owner, key }: Caller): boolean {
    if (this.bounds === undefined) return true
    const { max, perOwner, perKey } = this.bounds
    if (max !== undefined && this.#all >= max) return false
    if (perOwner !== undefined && (this.#byOwner.get(owner) ?? 0) >= perOwner) return false
    return perKey === undefined || (this.#byKey.get(key) ?? 0) < perKey
  }

  take(caller: Caller): void {
    this.#add(caller, 1)
  }

  giveBack(caller: Caller): void {
    this.#add(caller, -1)
  }

  #add({ owner, key }: Caller, calls: 1 | -1): void {
    this.#all += calls
    // Also without a bound, since there may be one before the call ends.
    add(this.#byOwner, owner, calls)
    add(this.#byKey, key, calls)
  }
}

function add(counts: Map<string, number>, name: string, calls: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + calls
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}
