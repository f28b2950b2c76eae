import { hash } from 'node:crypto'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import type { CallFace, CallOutcome } from '#core/ledger/call-kinds.ts'

/**
 * A call whose reply is a log that any number of readers follow, on any replica, and again after the end. It has an
 * `Idempotency-Key`; leaving it is not a stop.
 */
export interface KeptCall {
  readonly callId: string
  readonly keyId: string
  readonly ownerId: string
  readonly face: CallFace
  /** Its conversation, under the id that clients know. */
  readonly conversation: string
  /** Whether its client requested a stream. */
  readonly stream: boolean
  readonly isStopRequested: boolean
  /** Whether its reply cannot be read any more, although the call may still be running. */
  readonly isGone: boolean
  /** Absent while the call runs. */
  readonly end?: KeptEnd | undefined
}

/** How a kept reply ended. The process that writes it first decides. */
export interface KeptEnd {
  /** `interrupted` if the process of the call died: the reply is then the prefix that was stored. */
  readonly outcome: CallOutcome
  /** The number of its last event, 0 if it has none. */
  readonly events: number
  /**
   * The status with which the first request was answered: not 200 for a call that failed before its first event. Absent if the
   * call was interrupted.
   */
  readonly status?: number | undefined
  /** Absent for a complete reply. */
  readonly problem?: KeptProblem | undefined
}

/** A problem as it is stored, so that each reader gets it in the form of its own request. */
export interface KeptProblem {
  readonly reason: ErrorReason
  /** Absent for the text that the reason has by itself. */
  readonly detail?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  /** The inputs at fault, by core's names for them. */
  readonly mistakes?: readonly { readonly field: FieldPath; readonly text: string }[] | undefined
  /** Whether the same request gets this failure again, because its `Idempotency-Key` is not free for another call. */
  readonly isFinal?: boolean | undefined
}

/** What the log of a kept call holds: events as they are sent, or the items of GraphQL, of which each reader selects fields. */
export type LogContent = 'events' | 'items'

export function logContentOf({ face }: Pick<KeptCall, 'face'>): LogContent {
  return face === 'graphql' ? 'items' : 'events'
}

/**
 * The hash under which an `Idempotency-Key` is claimed within an API key, so that each end user has its own keys. Without an end user
 * it is the hash of the key alone.
 *
 * @param keyHash - SHA-256 of the `Idempotency-Key`, in hex
 * @param endUser - the end user to whom the request is bound
 */
export function claimHash(keyHash: string, endUser: string | undefined): string {
  return endUser ? hash('sha256', `${keyHash}\n${endUser}`) : keyHash
}

/** How clients name a kept call: by its id, or by the hash of its `Idempotency-Key` within their API key and end user. */
export type KeptCallRef =
  | { readonly kind: 'call'; readonly callId: string }
  /** SHA-256 in hex. */
  | { readonly kind: 'key'; readonly hash: string }
