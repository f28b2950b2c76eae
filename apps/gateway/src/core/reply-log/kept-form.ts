import type { ChatEvent } from '#core/agents/events.ts'
import type { Problem } from '#core/base/errors/errors.ts'

/** The form in which the reply of one kept call is stored: that of the face on which it was asked. It has state. */
export interface KeptForm {
  /**
   * The events of the stream for an event of the reply, each of which ends with an empty line and has none within; the empty
   * string if this client does not get the event.
   */
  encode(event: ChatEvent): string
  /** Events that come before any of the reply. */
  readonly opening?: string
  /** The last event of a stream that fails. */
  fail(problem: Problem): string
  /** Whether each event gets a line with its number, as server-sent events have it. */
  readonly hasIds: boolean
  /** Takes the same events for the JSON reply. */
  readonly collector: ReplyCollector
  /** The JSON reply as text, exactly as a client gets it. */
  serialize(): string
}

/** Builds the JSON reply of a face out of the events of a reply, which it is given one by one. */
export interface ReplyCollector<Reply = unknown> {
  add(event: ChatEvent): void
  /** What it holds in memory. */
  readonly heldBytes: number
  /** The reply, once the last event has been added. */
  readonly reply: Reply
}
