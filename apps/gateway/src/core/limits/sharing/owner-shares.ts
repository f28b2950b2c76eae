/** What is left of the whole for owners that hold little of it. */
const RESERVED_SHARE = 0.1

/** Why an owner may not take one more: all are taken, or those that are left are for other owners. */
export type ShareRefusal = 'all' | 'share'

/**
 * Divides something of which a process has only so much, such as streams, between owners. An owner may take all but the last
 * tenth, which is for owners that hold less than a tenth.
 */
export class OwnerShares {
  readonly #max: number
  readonly #reserved: number
  readonly #perOwnerMax: number
  readonly #heldBy = new Map<string, number>()
  /** How many are taken. */
  taken = 0

  /** @param perOwnerMax - what one owner may have in any case; without it, only the last tenth is kept from it */
  constructor(max: number, perOwnerMax = max) {
    this.#max = max
    this.#perOwnerMax = perOwnerMax
    this.#reserved = Math.floor(max * RESERVED_SHARE)
  }

  /** Takes one. If the owner may not, it takes none and returns the reason. */
  take(owner: string): ShareRefusal | undefined {
    if (this.taken >= this.#max) return 'all'
    const held = this.#heldBy.get(owner) ?? 0
    const isReserved = this.taken >= this.#max - this.#reserved
    const ownersMax = isReserved ? Math.min(this.#reserved, this.#perOwnerMax) : this.#perOwnerMax
    if (held >= ownersMax) return 'share'
    this.taken += 1
    this.#heldBy.set(owner, held + 1)
    return undefined
  }

  /**
   * Gives one back, which must be done once for each that was taken. It is no function that {@link OwnerShares.take} returns,
   * because every open stream would keep one.
   */
  giveBack(owner: string): void {
    this.taken -= 1
    const left = (this.#heldBy.get(owner) ?? 0) - 1
    if (left > 0) this.#heldBy.set(owner, left)
    else this.#heldBy.delete(owner)
  }
}
