import type { DetailEvent, Pause, PauseAnswer, ReplyFile, TokenUsage } from '@trunkline/sdk'
import type { Exchange } from '../frames/exchange.ts'

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
  /** Random, so that two tabs may add turns to one chat. */
  readonly id: string
  readonly query: string
  readonly files: readonly SentFile[]
  /** What is sent in place of the query, where the message answers the question of a reply before it. */
  readonly answer: PauseAnswer | undefined
  /** The conversation at the gateway. A chat goes on in another one where an answer was requested again. */
  readonly conversationId: string
  /** The messages before, as they were sent ahead of the question where it began another conversation; otherwise empty. */
  readonly carried: string
  /** The answers that this one has replaced, the oldest first. */
  readonly earlierAnswers: readonly string[]
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
  /** The reply as it was sent, line by line. */
  readonly frames: string
  /** The headers of the requests that were made for it, the newest last. */
  readonly exchanges: readonly Exchange[]
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
  conversationId: '',
  carried: '',
  earlierAnswers: [],
  idempotencyKey: undefined,
  state: 'waiting',
  isReconnecting: false,
  isStopped: false,
  wasAway: false,
  text: '',
  details: [],
  frames: '',
  exchanges: [],
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

/** What is sent to the agent: the question, after the messages before it where they are carried along. */
export function sentQuery({ carried, query, answer }: Turn): string {
  if (answer !== undefined) return ''
  return carried === '' ? query : `${carried}\n\nUser: ${query}`
}
