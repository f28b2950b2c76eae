import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { CallOutcome } from '#core/ledger/call-kinds.ts'

/** How a call ends that neither its platform nor its storage has ended: `rejected` if its key is not valid any more, or if it was stopped. */
export type EndedEarly = Extract<CallOutcome, 'client_gone' | 'drained' | 'rejected'>

/** A call in progress. */
export interface RunningCall {
  /**
   * Ends the call early. Does nothing after its end.
   *
   * @param reason - what its reader and the ledger are given
   */
  end(outcome: EndedEarly, reason?: ErrorReason): void
}
