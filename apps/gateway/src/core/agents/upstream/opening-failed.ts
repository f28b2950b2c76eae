import type { Failure } from '#core/agents/events.ts'

/** Thrown when a platform fails before the chat itself: it has no card that can be used, creates no conversation, or refuses a file. */
export class OpeningFailed extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.reason)
    this.failure = failure
  }
}
