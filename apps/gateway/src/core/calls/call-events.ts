import type { Failure, FinishReason, TokenCounts } from '#core/agents/events.ts'
import type { CallFace, CallKind, CallOutcome } from '#core/ledger/call-kinds.ts'
import type { AttemptEnd } from '#core/ledger/settlement/settlement-row.ts'
import type { LimitVerdict } from '#core/limits/limits.ts'
import type { Traced } from '#core/requests/request-trace.ts'

/** What identifies a call from its arrival on; it contains none of the call's texts. */
export interface CallOrigin {
  readonly requestId: string
  readonly kind: CallKind
  readonly face: CallFace
}

/** An admitted call. This is the part of a call that is kept in memory until it ends. */
export interface CallRecord extends CallOrigin, Traced {
  readonly callId: string
  /** The id of its agent; an upload may have none. */
  readonly agent: string
  /** Whether it belongs to a conversation that its client can go on with. */
  readonly isListed?: boolean | undefined
  /** The name that the conversation gets if it begins with this call, where conversations are named by their first questions. */
  readonly conversationName?: string | undefined
}

/**
 * The state of a call's turn at the platform when an attempt ends. `none`: the platform has not taken the turn, so that it may
 * be sent again. `stored`: the platform has stored it. `unknown`: the gateway cannot tell.
 */
export type TurnState = 'none' | 'unknown' | 'stored'

/** What one request at a platform cost and took, for metrics and traces. */
export interface Exchange {
  /** The model that the configuration names; undefined where it names none. */
  readonly requestedModel: string | undefined
  /** The model that the platform has reported. */
  readonly model: string | undefined
  /** From the request to the end of the reply, or to its failure. */
  readonly durationMs: number
  /** From the request to the first part of the answer. */
  readonly firstTextMs: number | undefined
  readonly finishReason: FinishReason | undefined
  /** The platform's word for the end, if the gateway does not know it. */
  readonly unknownFinishWord?: string | undefined
  readonly usage: TokenCounts | undefined
}

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
  /** The id under which the platform keeps the answer. */
  readonly answerId?: string | undefined
  /** Whether the run waits for its user, who can answer. */
  readonly paused?: boolean | undefined
  /** Whether the platform may have stored the turn of a chat. */
  readonly hasTurn?: boolean | undefined
  /** The bytes of an upload's file that were received. */
  readonly bytes?: number | undefined
}

/** How many attempts of a call the ledger lists: the first ones. More than these need an agent that brings files anew each time. */
export const ATTEMPTS_LISTED_MAX = 8

/**
 * A step in the life of a call. The ledger, the metrics and the log record calls by these events alone. Each call that is
 * admitted emits `admitted` and later `settled`, once; one that is refused emits neither, and its face records the refusal.
 */
export type CallEvent =
  /** The limit of the caller's key was checked, whether or not it allows the call. */
  | { readonly type: 'limited'; readonly call: CallOrigin; readonly verdict: LimitVerdict }
  /** The agent is configured to ignore the tools of the request, which are of these kinds. Only the caller learns it. */
  | { readonly type: 'tools_ignored'; readonly call: CallOrigin; readonly kinds: readonly string[] }
  /** The agent remembers the conversation, so it gets only the last of the request's messages. Only the caller learns it. */
  | { readonly type: 'history_left_out'; readonly call: CallOrigin }
  | { readonly type: 'admitted'; readonly call: CallRecord }
  /** A request is sent to the platform; attempts are counted from 1. */
  | {
      readonly type: 'attempt_started'
      readonly call: CallRecord
      readonly attempt: number
      readonly deployment: string
      readonly platform: string
      /** The id of the conversation as the gateway has derived it; only where the call is traced. */
      readonly conversation: string | undefined
      /** How long the call has waited for a slot of its agent; undefined if it did not wait. */
      readonly queuedMs: number | undefined
      /**
       * Of a first attempt: how long the gateway took from the arrival of the call to this request, without the wait for a slot.
       * Undefined if another request to the platform came before, such as for a conversation, since that took the platform's time.
       */
      readonly ownMs: number | undefined
    }
  | {
      readonly type: 'attempt_ended'
      readonly call: CallRecord
      readonly attempt: number
      readonly deployment: string
      readonly platform: string
      readonly end: AttemptEnd
      readonly turn: TurnState
      /** Whether the platform has sent a whole reply. Neither so nor with a failure if the client has left. */
      readonly isComplete: boolean
      readonly failure: Failure | undefined
      /** Undefined if the request of the chat itself was not sent, because something before it has failed. */
      readonly exchange: Exchange | undefined
    }
  /** The platform does not accept fields that the gateway adds to requests, which are left out from now on. */
  | {
      readonly type: 'fields_refused'
      readonly call: CallRecord
      readonly deployment: string
      readonly fields: readonly string[]
    }
  /** The agent has made files that nobody but the gateway can reach, since its entry does not say where they are. */
  | { readonly type: 'files_unreachable'; readonly call: CallRecord; readonly deployment: string }
  /** A reply that was a success, of which an operator should know something. */
  | {
      readonly type: 'reply_noted'
      readonly call: CallRecord
      readonly deployment: string
      readonly note: string
    }
  /** The first part of the answer has arrived, so many milliseconds after the admission. */
  | { readonly type: 'first_text'; readonly call: CallRecord; readonly afterMs: number }
  /** The file of an upload is written to the storage. */
  | { readonly type: 'storing_started'; readonly call: CallRecord; readonly storage: string }
  | {
      readonly type: 'storing_ended'
      readonly call: CallRecord
      readonly bytes: number
      readonly isStored: boolean
    }
  | { readonly type: 'settled'; readonly call: CallRecord; readonly settled: Settled }

/** Must not throw: the call does not wait for its observers, and they cannot change it. */
export type CallObserver = (event: CallEvent) => void

export type EventOf<Type extends CallEvent['type']> = Extract<CallEvent, { readonly type: Type }>

/** What a part of the gateway does at the steps of calls, each like a {@link CallObserver}. */
export type CallSteps = { readonly [Type in CallEvent['type']]?: (event: EventOf<Type>) => void }

/** The steps of the kinds of calls that a part of the gateway follows. */
export type CallFollower = { readonly [Kind in CallKind]?: CallSteps }
