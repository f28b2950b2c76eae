import type { Caller } from '#core/agents/deployments/caller.ts'
import type { Concurrency } from '#core/agents/served-agent.ts'

/** The slots of an agent that calls in progress hold, in all and by owner and key. */
export class HeldSlots {
  readonly #bounds: Pick<Concurrency, 'max' | 'perOwner' | 'perKey'>
  readonly #byOwner = new Map<string, number>()
  readonly #byKey = new Map<string, number>()
  #all = 0

  constructor(bounds: Pick<Concurrency, 'max' | 'perOwner' | 'perKey'> = UNBOUNDED) {
    this.#bounds = bounds
  }

  get all(): number {
    return this.#all
  }

  /** Whether one more call of this caller may begin. */
  hasRoom({ owner, key }: Caller): boolean {
    const { max, perOwner, perKey } = this.#bounds
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
    // Counts without a bound are never read, so they are not kept.
    if (this.#bounds.perOwner !== undefined) add(this.#byOwner, owner, calls)
    if (this.#bounds.perKey !== undefined) add(this.#byKey, key, calls)
  }
}

const UNBOUNDED = { max: undefined, perOwner: undefined, perKey: undefined }

function add(counts: Map<string, number>, name: string, calls: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + calls
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}
