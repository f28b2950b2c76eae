import type { Caller } from '#core/agents/deployments/caller.ts'
import type { Concurrency } from '#core/agents/served-agent.ts'
import type { InFlight } from '#core/base/async/in-flight.ts'

/** The calls in progress of an agent. Whose they are is counted only while that is bounded. */
export interface HeldSlots {
  readonly calls: InFlight<HoldingCall>
  bounds: SlotBounds | undefined
}

export interface HoldingCall {
  readonly caller: Caller
}

/** The bounds of an agent's calls in progress, and how many each owner and each key has. */
export class SlotBounds {
  readonly #max: Pick<Concurrency, 'max' | 'perOwner' | 'perKey'>
  readonly #byOwner = new Map<string, number>()
  readonly #byKey = new Map<string, number>()
  #all = 0

  /** @param calls - those in progress */
  constructor(max: Pick<Concurrency, 'max' | 'perOwner' | 'perKey'>, calls: InFlight<HoldingCall>) {
    this.#max = max
    for (const call of calls.all()) this.count(call, 1)
  }

  /** Whether one more call of this caller may begin. */
  hasRoom({ owner, key }: Caller): boolean {
    const { max, perOwner, perKey } = this.#max
    if (max !== undefined && this.#all >= max) return false
    if (perOwner !== undefined && (this.#byOwner.get(owner) ?? 0) >= perOwner) return false
    return perKey === undefined || (this.#byKey.get(key) ?? 0) < perKey
  }

  /** @param calls - 1 for one that begins, -1 for one that has ended */
  count({ caller: { owner, key } }: HoldingCall, calls: 1 | -1): void {
    this.#all += calls
    add(this.#byOwner, owner, calls)
    add(this.#byKey, key, calls)
  }
}

function add(counts: Map<string, number>, name: string, calls: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + calls
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}
