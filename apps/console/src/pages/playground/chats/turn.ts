import type { DetailEvent, Pause, PauseAnswer, ReplyFile, TokenUsage } from '@trunkline/sdk'

export interface SentFile {
  readonly id: string
  readonly name: string
  readonly url: string
}

/**
 * The state of a reply. `lost`: it cannot be read at the moment and may go on at the gateway; `interrupted`: its gateway has died;
 * `unread`: it was stopped by somebody else, or by the gateway because nobody read it; `missing`: its question has not reached the gateway; `gone`: it
 * cannot be read any more.
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
  readonly id: string
  readonly query: string
  readonly files: readonly SentFile[]
  /** What is sent in place of the query, where the message answers the question of a reply before it. */
  readonly answer: PauseAnswer | undefined
  /** The name of the call at the gateway, with which it is resumed. Undefined where the gateway keeps no replies. */
  readonly idempotencyKey: string | undefined
  readonly state: TurnState
  /** Whether the connection was lost and is being made again. */
  readonly isReconnecting: boolean
  /** Whether the user has stopped the reply; the gateway may not have got the request to stop yet. */
  readonly isStopped: boolean
  /** Whether a part of the reply may have come while this page was away, so that its times are not known. */
  readonly wasAway: boolean
  readonly text: string
  readonly details: readonly DetailEvent[]
  readonly requestId: string | undefined
  readonly callId: string | undefined
  readonly usage: TokenUsage | undefined
  /** The files that the agent has made. */
  readonly madeFiles: readonly ReplyFile[]
  /** The question with which the reply has ended, if the run waits for the user. */
  readonly pause: Pause | undefined
  /** Whether the gateway has said that the question cannot be answered any more. */
  readonly isPauseOver: boolean
  /** Why the last message was not taken as an answer to the question. */
  readonly answerError: unknown
  readonly error: unknown
  /** What the user thinks of the answer, as the gateway has it. */
  readonly rating: 'up' | 'down' | undefined
  readonly ratingText: string
  /** Milliseconds since 1970. */
  readonly startedAtMs: number
  readonly firstTextMs: number | undefined
  readonly totalMs: number | undefined
}

export const EMPTY_TURN: Turn = {
  id: '',
  query: '',
  files: [],
  answer: undefined,
  idempotencyKey: undefined,
  state: 'waiting',
  isReconnecting: false,
  isStopped: false,
  wasAway: false,
  text: '',
  details: [],
  requestId: undefined,
  callId: undefined,
  usage: undefined,
  madeFiles: [],
  pause: undefined,
  isPauseOver: false,
  answerError: undefined,
  error: undefined,
  rating: undefined,
  ratingText: '',
  startedAtMs: 0,
  firstTextMs: undefined,
  totalMs: undefined,
}

export function isRunning({ state }: Turn): boolean {
  return state === 'waiting' || state === 'streaming'
}
