import type { Reply } from '../chat/reply.ts'
import type { CallOutcome } from '../generated/words.ts'
import type { CallOptions, ChatStreamOptions } from '../options.ts'

/** What names a kept call: its id, or the `Idempotency-Key` with which it was made. */
export type CallReference =
  | string
  | {
      /** The key that was given with the chat. */
      readonly idempotencyKey: string
    }

/** What `client.calls.resume` takes. */
export interface ResumeOptions extends ChatStreamOptions {
  /** The number of the last event that was received, such as `lastEventId` of an error. Without it, the first event is the first. */
  readonly after?: number | undefined
}

/** What `client.calls.reply` takes. */
export interface ReplyOptions extends CallOptions {
  /** Whether to ask again until the call has ended, as often as the gateway wants it. */
  readonly wait?: boolean | undefined
}

/** A kept call that has not ended. */
export interface RunningCall {
  /** Distinguishes it from a reply, which has no status. */
  readonly status: 'running'
  /** The id of the call. */
  readonly callId: string | undefined
  /** After how many milliseconds to ask again. */
  readonly retryAfterMs: number
}

/** A kept call that has ended, as its reply. */
export interface EndedCall extends Reply {
  /** Distinguishes it from a call that is running. */
  readonly status?: undefined
}

/** The answer of the gateway to a request to stop a call. */
export interface StoppedCall {
  /** The id of the call. */
  readonly call_id: string
  /** How the call has ended; null while it runs, until it has been stopped. */
  readonly outcome: CallOutcome | null
}
