import type { DetailEvent, TokenUsage } from '@trunkline/sdk'

export interface SentFile {
  readonly id: string
  readonly name: string
  readonly url: string
}

/**
 * Where a reply is. Beside those that say it: `lost` is one that cannot be read at the moment and may go on at the gateway;
 * `interrupted` one whose gateway has died; `unread` one that the gateway has stopped since nobody read it; `missing` one whose
 * question has not reached the gateway; `gone` one that can be read no more.
 */
export type TurnState =
  | 'waiting'
  | 'streaming'
  | 'done'
  | 'stopped'
  | 'failed'
  | 'lost'
  | 'interrupted'
  | 'unread'
  | 'missing'
  | 'gone'

/** A message and what has come back so far. */
export interface Turn {
  readonly id: number
  readonly query: string
  readonly files: readonly SentFile[]
  /** The name of the call at the gateway, with which it is resumed. Undefined where the gateway keeps no replies. */
  readonly idempotencyKey: string | undefined
  readonly state: TurnState
  /** Whether the connection was lost and is being made again. */
  readonly isReconnecting: boolean
  /** Whether the user has stopped the reply, of which the gateway may yet have to be told. */
  readonly isStopped: boolean
  /** Whether a part of the reply may have come while this page was away, so that its times are not known. */
  readonly wasAway: boolean
  readonly text: string
  readonly details: readonly DetailEvent[]
  /** The reply as it was sent, line by line. */
  readonly frames: string
  readonly requestId: string | undefined
  readonly callId: string | undefined
  readonly usage: TokenUsage | undefined
  readonly error: unknown
  /** Milliseconds since 1970. */
  readonly startedAtMs: number
  readonly firstTextMs: number | undefined
  readonly totalMs: number | undefined
}

export const EMPTY_TURN: Turn = {
  id: 0,
  query: '',
  files: [],
  idempotencyKey: undefined,
  state: 'waiting',
  isReconnecting: false,
  isStopped: false,
  wasAway: false,
  text: '',
  details: [],
  frames: '',
  requestId: undefined,
  callId: undefined,
  usage: undefined,
  error: undefined,
  startedAtMs: 0,
  firstTextMs: undefined,
  totalMs: undefined,
}

export function isRunning({ state }: Turn): boolean {
  return state === 'waiting' || state === 'streaming'
}
