import type { Failure, FinishReason, TokenCounts } from '#core/agents/events.ts'
import type { Problem } from '#core/errors.ts'
import type { AttemptEnd, CallFace, CallKind, CallOutcome } from '#core/ledger/ledger.ts'
import type { LimitVerdict } from '#core/limits/limits.ts'

/** What identifies a call from its arrival on; it contains none of the call's texts. */
export interface CallOrigin {
  readonly requestId: string
  readonly kind: CallKind
  readonly face: CallFace
}

/** An admitted call. This is the part of a call that is kept in memory until it ends. */
export interface CallRecord extends CallOrigin {
  readonly callId: string
  /** The id of its agent; an upload may have none. */
  readonly agent: string
}

/**
 * The state of a call's turn at the platform when an attempt ends. `none`: the platform has not taken the turn, so that it may
 * be sent again. `stored`: the platform has stored it. `unknown`: the gateway cannot tell.
 */
export type TurnState = 'none' | 'unknown' | 'stored'

/** How a call ended; there is exactly one of each call. */
export interface Settled {
  readonly outcome: CallOutcome
  readonly durationMs: number
  /** Absent for a client that left, since it gets no error. */
  readonly failure?: Failure | undefined
  /** An unexpected error of the gateway or of something that it needs, for the log. */
  readonly cause?: unknown
  /** Unknown counts are absent, not zero. */
  readonly usage?: TokenCounts | undefined
  /** The deployment of the last attempt. */
  readonly deployment?: string | undefined
  /** How many requests were sent to platforms. */
  readonly attempts?: number | undefined
  /** Present if there were several attempts, or the only one failed; see {@link ATTEMPTS_LISTED_MAX}. */
  readonly attemptList?: readonly AttemptEnd[] | undefined
  /** How long the call has waited for a slot of its agent; absent if it did not wait. */
  readonly queuedMs?: number | undefined
  /** The model that the platform reported. */
  readonly model?: string | undefined
  /** The time until the first part of a chat's answer. */
  readonly firstTextMs?: number | undefined
  /** The bytes of an upload's file that were received. */
  readonly bytes?: number | undefined
}

/** How many attempts of a call the ledger lists: the first ones. More than these need an agent that brings files anew each time. */
export const ATTEMPTS_LISTED_MAX = 8

/**
 * A step in the life of a call. The ledger, the metrics and the log record calls by these events alone. Each call that arrives
 * emits either `refused`, or `admitted` and later `settled`, once.
 */
export type CallEvent =
  /** The limit of the caller's key was asked, whether or not it allows the call. */
  | { readonly type: 'limited'; readonly call: CallOrigin; readonly verdict: LimitVerdict }
  | { readonly type: 'refused'; readonly call: CallOrigin; readonly problem: Problem }
  | { readonly type: 'admitted'; readonly call: CallRecord }
  /** A request is sent to the platform; attempts are counted from 1. */
  | {
      readonly type: 'attempt_started'
      readonly call: CallRecord
      readonly attempt: number
      readonly deployment: string
    }
  | {
      readonly type: 'attempt_ended'
      readonly call: CallRecord
      readonly attempt: number
      readonly deployment: string
      readonly end: AttemptEnd
      readonly turn: TurnState
      /** Whether the platform has sent a whole reply. Neither so nor with a failure if the client has left. */
      readonly isComplete: boolean
      readonly failure: Failure | undefined
      /** What the platform has reported, as far as it has. */
      readonly usage?: TokenCounts | undefined
      readonly model?: string | undefined
      readonly finishReason?: FinishReason | undefined
    }
  /** The first part of the answer has arrived, so many milliseconds after the admission. */
  | { readonly type: 'first_text'; readonly call: CallRecord; readonly afterMs: number }
  | { readonly type: 'settled'; readonly call: CallRecord; readonly settled: Settled }

/** Must not throw: the call does not wait for its observers, and they cannot change it. */
export type CallObserver = (event: CallEvent) => void
