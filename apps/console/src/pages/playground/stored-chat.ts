import { StreamFailedError, TrunklineError } from '@trunkline/sdk'
import { EMPTY_TURN, isRunning, type Turn } from './turn.ts'

/** A chat as it is kept in the storage of the tab. */
export interface StoredChat {
  readonly app: string
  readonly conversationId: string
  readonly turns: readonly Turn[]
}

/** What changes when another version must not read what this one has stored. */
const VERSION = 1

/** Yields the chat as texts to store: the first one if there is room for it, else the next, which has less in it. */
export function* serializedChat({ turns, ...chat }: StoredChat): Generator<string, undefined> {
  const last = turns.slice(-1)
  const withoutDetails = (turn: Turn): Turn => ({ ...turn, details: [] })
  const kept: readonly (readonly Turn[])[] = [
    turns,
    [...turns.slice(0, -1).map(withoutDetails), ...last],
    last,
    last.map((turn) => ({ ...withoutDetails(turn), text: '' })),
  ]
  for (const part of kept) yield JSON.stringify({ ...chat, version: VERSION, turns: part.map(storedTurn) })
  return undefined
}

/** Reads a chat that was stored. Undefined where there is none of this version. */
export function parseChat(text: string | undefined): StoredChat | undefined {
  if (text === undefined) return undefined
  try {
    const { version, app, conversationId, turns } = Object(JSON.parse(text))
    const isChat = version === VERSION && Array.isArray(turns) && typeof conversationId === 'string'
    return isChat ? { app, conversationId, turns: turns.map(restoredTurn) } : undefined
  } catch {
    return undefined
  }
}

/** Raw frames are left out, because they would take most of the room; a reply that is resumed has them again. */
function storedTurn({ frames: _frames, isReconnecting: _isReconnecting, error, ...turn }: Turn): object {
  if (!(error instanceof TrunklineError)) return { ...turn, error: error && { message: String(error) } }
  const { name, message, status, reason, detail, requestId } = error
  return { ...turn, error: { name, message, status, reason, detail, requestId } }
}

function restoredTurn({ error, ...stored }: Turn): Turn {
  const turn = { ...EMPTY_TURN, ...stored, error: restoredError(error) }
  if (!isRunning(turn) && turn.state !== 'lost') return turn
  // It may still be running at the gateway, unless that has ended it with the connection.
  const state = turn.idempotencyKey === undefined ? 'gone' : 'lost'
  return { ...turn, state, error: undefined, wasAway: true }
}

/** The same error for a reader. Its class matters only where the page treats it in another way. */
function restoredError(stored: unknown): unknown {
  if (stored === undefined) return undefined
  const { name, message, ...fields } = Object(stored)
  return new (name === 'StreamFailedError' ? StreamFailedError : TrunklineError)(message, fields)
}
