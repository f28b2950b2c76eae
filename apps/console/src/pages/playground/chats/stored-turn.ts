import { StreamFailedError, TrunklineError } from '@trunkline/sdk'
import { EMPTY_TURN, isRunning, type Turn } from './turn.ts'

/** Of a reply with more steps than this takes, the steps are not stored. */
const DETAILS_CHARACTERS_MAX = 500_000

/**
 * The turn as it is stored. Raw frames are left out, because they would take most of the room; a reply that is resumed has them
 * again. Why an answer was refused is left out as well, since it is about what was being written.
 */
export function storedTurn({
  frames: _frames,
  isReconnecting: _isReconnecting,
  answerError: _answerError,
  error,
  ...turn
}: Turn): object {
  const hasTooMany = JSON.stringify(turn.details).length > DETAILS_CHARACTERS_MAX
  return { ...turn, ...(hasTooMany && { details: [] }), error: storedError(error) }
}

/** Undefined for what is no turn, such as one that another version of the console has stored. */
export function restoredTurn(stored: unknown): Turn | undefined {
  const { error, ...fields } = Object(stored) as Partial<Turn>
  const { id, query, text } = fields
  if (![id, query, text].every((field) => typeof field === 'string')) return undefined
  const turn = { ...EMPTY_TURN, ...fields, error: restoredError(error) }
  if (!isRunning(turn) && turn.state !== 'lost') return turn
  // It may still be running at the gateway, unless that has ended it with the connection.
  const state = turn.idempotencyKey === undefined ? 'gone' : 'lost'
  return { ...turn, state, error: undefined, wasAway: true }
}

function storedError(error: unknown): object | undefined {
  if (error === undefined) return undefined
  if (!(error instanceof TrunklineError)) return { message: String(error) }
  const { name, message, status, reason, detail, requestId } = error
  return { name, message, status, reason, detail, requestId }
}

/** The same error for a reader. Its class matters only where the page treats it in another way. */
function restoredError(stored: unknown): unknown {
  if (stored === undefined) return undefined
  const { name, message, ...fields } = Object(stored)
  return new (name === 'StreamFailedError' ? StreamFailedError : TrunklineError)(message, fields)
}
