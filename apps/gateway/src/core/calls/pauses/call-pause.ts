import type { OfferedPause, Pause } from '#core/agents/pause.ts'
import { offeredPause } from '#core/agents/pause.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { sleep } from '#core/base/async/sleep.ts'
import { residenceAt } from '#core/calls/routing/residence.ts'
import type { Route } from '#core/calls/routing/route.ts'
import type { KeptPause, PauseHolder, Pauses } from './pauses.ts'

/** How long to wait before a claim is ended once more, for outages of the database. */
const AGAIN_MS = [500, 2_000, 10_000, 30_000]

export type PauseKeeper = Pick<Pauses, 'keep' | 'endClaim'>

/** The pauses of one call: the one that it has claimed, and the one with which it may end. */
export class CallPause {
  readonly #pauses: PauseKeeper
  readonly #holder: PauseHolder
  #hasClaim: boolean

  constructor(pauses: PauseKeeper, holder: PauseHolder, hasClaim = false) {
    this.#pauses = pauses
    this.#holder = holder
    this.#hasClaim = hasClaim
  }

  /** Keeps the pauses of the reply, of which the first is offered. Whatever the call has claimed is over with it. */
  async keep(
    pauses: readonly Pause[],
    stopIds: Omit<KeptPause, 'pauses'>,
    { deployment }: Pick<Route, 'deployment'>,
  ): Promise<OfferedPause | undefined> {
    const [first] = pauses
    if (first === undefined) return undefined
    const keep = () => this.#pauses.keep(this.#holder, residenceAt(deployment), { pauses, ...stopIds })
    // Once more for a short outage: without its row the run could not be answered.
    await keep().catch(keep)
    this.#hasClaim = false
    return offeredPause(this.#holder.callId, first)
  }

  /**
   * Ends the claim of the call, if it has one. Resolves when the next call finds the pause as it is then, or when the database has not
   * taken it at the first try; it is tried again in the background.
   */
  endClaim(as: 'open' | 'over'): Promise<void> | undefined {
    if (!this.#hasClaim) return undefined
    this.#hasClaim = false
    const { callId } = this.#holder
    const again = async () => {
      for (const delayMs of AGAIN_MS) {
        await sleep(delayMs)
        try {
          return await this.#pauses.endClaim(callId, as)
        } catch {
          // The sweep removes the pause in the end.
        }
      }
    }
    return this.#pauses.endClaim(callId, as).catch(() => void markRejectionHandled(again()))
  }
}
