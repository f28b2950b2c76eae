import type { FinishReason } from '#core/agents/events.ts'

/** The worse of two ends counts: a server may report that an answer was cut, and afterwards that it has stopped. */
const RANK: Readonly<Record<FinishReason, number>> = { stop: 0, tool_calls: 1, length: 2, content_filter: 3 }

/**
 * The ends that a platform has reported of one reply. Servers report several, and some report one with the first piece of an
 * answer: a piece of the answer after an end withdraws it, until another one is reported or the response ends.
 */
export class ReplyEnds {
  /** Whether an end was reported after everything else that belongs to the answer. */
  stands = false
  /** How many ends were withdrawn. */
  withdrawn = 0
  #worst: FinishReason | undefined
  #hasToolCalls = false

  /** The worst of the ends, whether or not it was withdrawn; undefined if none was reported. */
  get reason(): FinishReason | undefined {
    return this.#worst === 'stop' && this.#hasToolCalls ? 'tool_calls' : this.#worst
  }

  report(reason: FinishReason): void {
    this.stands = true
    if (this.#worst === undefined || RANK[reason] > RANK[this.#worst]) this.#worst = reason
  }

  /** A piece of the answer has come. */
  goesOn(isToolCall: boolean): void {
    this.#hasToolCalls ||= isToolCall
    if (!this.stands) return
    this.stands = false
    this.withdrawn += 1
  }
}
