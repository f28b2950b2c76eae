/** One way in which a platform refuses a call before it stores anything. What is set must all fit. */
export interface EarlyRefusal {
  readonly status?: number
  /** The platform's code or type. */
  readonly code?: unknown
  /** The beginning of the platform's text; one text, so that each has a transcript of its own. */
  readonly text?: RegExp
}

interface RefusalFacts {
  readonly status?: number | undefined
  readonly code?: unknown
  readonly message?: unknown
}

/**
 * The refusals of a platform after which it has stored no turn, so that the request may be sent again. A test requires a
 * recorded reply for each of them. They count only where the platform has not begun a run: the same code in the middle of a
 * reply proves nothing, so adapters ask only for what comes first.
 */
export class EarlyRefusals {
  readonly all: readonly EarlyRefusal[]

  constructor(all: readonly EarlyRefusal[]) {
    this.all = all
  }

  /** The value of `Failure.turn`. */
  turnOf(facts: RefusalFacts): 'none' | undefined {
    return this.find(facts) === undefined ? undefined : 'none'
  }

  find({ status, code, message }: RefusalFacts): EarlyRefusal | undefined {
    return this.all.find(
      (refusal) =>
        (refusal.status === undefined || refusal.status === status) &&
        (refusal.code === undefined || refusal.code === code) &&
        (refusal.text === undefined || (typeof message === 'string' && refusal.text.test(message))),
    )
  }
}
