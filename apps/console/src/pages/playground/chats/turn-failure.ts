import {
  AbortError,
  ConnectionError,
  IdleTimeoutError,
  TimeoutError,
  TruncatedStreamError,
  TrunklineError,
} from '@trunkline/sdk'
import { isKeyOver } from './playground-key.ts'
import type { Turn, TurnState } from './turn.ts'

/** Whether a failure is that of the connection, so that a kept reply may go on without it. */
export function isConnectionLost(error: unknown): boolean {
  return [ConnectionError, IdleTimeoutError, TimeoutError, TruncatedStreamError].some(
    (kind) => error instanceof kind,
  )
}

/** Whether the gateway has refused the `Idempotency-Key`, because it keeps no replies. */
export function keepsNoReplies(error: unknown): boolean {
  if (!(error instanceof TrunklineError) || error.status !== 400) return false
  return error.fields?.some(({ field }) => /idempotency-key/i.test(field)) === true
}

/**
 * What a failure makes of a turn.
 *
 * @param isResuming whether it came when the reply was read again
 */
export function failedTurn(turn: Turn, error: unknown, isResuming: boolean): Partial<Turn> {
  const state = stateAfter(turn, error, isResuming)
  // A call that was refused before its reply has an id as well.
  const callId = error instanceof TrunklineError ? error.headers?.get('x-call-id') : undefined
  return {
    state,
    error: state === 'failed' || state === 'lost' ? error : undefined,
    ...(typeof callId === 'string' && { callId }),
  }
}

function stateAfter(turn: Turn, error: unknown, isResuming: boolean): TurnState {
  if (error instanceof AbortError) return 'stopped'
  const { idempotencyKey, isStopped } = turn
  if (idempotencyKey === undefined || !(error instanceof TrunklineError)) return 'failed'
  if (isConnectionLost(error)) return 'lost'
  if (error.reason === 'stopped') return isStopped ? 'stopped' : 'unread'
  if (error.reason === 'interrupted') return 'interrupted'
  if (!isResuming) return 'failed'
  // A call that has begun is hidden from every key but its own.
  if (error.reason === 'call_not_found') return turn.callId === undefined ? 'missing' : 'gone'
  // Without its key, a call cannot be read any more.
  return error.reason === 'reply_gone' || (isKeyOver(error) && error.status === 401) ? 'gone' : 'failed'
}
