import type { ErrorReason, Problem } from '#core/errors.ts'

/** Token counts as the platform reported them. Unknown counts are an absent `TokenCounts`, never zeros. */
export interface TokenCounts {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
}

export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls'

/** The kinds of a {@link DetailEvent}, the same for all platforms. */
export const DETAIL_TYPES = [
  'node_started',
  'node_finished',
  'tool_call',
  'tool_result',
  'thought',
  'reasoning',
  'sources',
  'variables',
  'interaction',
  'replaced',
  'other',
] as const

/** One step of a run's progress, in a form common to all platforms. Clients may see `data`, which is JSON. */
export interface DetailEvent {
  readonly type: (typeof DETAIL_TYPES)[number]
  readonly id?: string
  readonly name?: string
  readonly status?: string
  readonly data?: unknown
  readonly elapsed_ms?: number
}

/**
 * A failure at the platform. `message` is sanitized for the client; `platform…` fields go to ledger and log.
 */
export interface Failure {
  readonly reason: ErrorReason
  readonly message?: string
  readonly retryAfterSeconds?: number
  readonly platformStatus?: number
  readonly platformCode?: string
  readonly platformLogId?: string
}

/**
 * One part of a platform's reply, in a vocabulary common to all platforms. Every output (SSE, JSON, GraphQL)
 * is built from the same events. `end` is provisional: platforms send more after it, so the chat service
 * decides when the reply is over.
 */
export type ChatEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** The platform withdraws the text sent so far and replaces it with this one. */
  | { readonly type: 'replace'; readonly text: string }
  /** The platform waits for the end user: a question and the answers that it offers, which may be none. */
  | { readonly type: 'interaction'; readonly question: string; readonly options: readonly string[] }
  | { readonly type: 'tool_calls'; readonly delta: readonly unknown[] }
  | { readonly type: 'detail'; readonly detail: DetailEvent }
  | { readonly type: 'model'; readonly model: string }
  | { readonly type: 'usage'; readonly usage: TokenCounts }
  | { readonly type: 'end'; readonly reason: FinishReason }
  | { readonly type: 'error'; readonly failure: Failure }

/** A reply, which can be read once. */
export interface ChatEvents {
  /**
   * Passes batches of events to `take` and waits for the promise that it returns. Resolves after a complete
   * reply, whose last event is `end`; every other end rejects with a {@link Problem}. A problem that `take`
   * throws ends the reply as failed. A second read rejects with an ordinary error, because only a programming
   * error can cause it.
   */
  read(take: TakeEvents): Promise<void>
  /** Abandons the reply and stops the run at the platform. Does nothing after the end. */
  leave(): void
}

export type TakeEvents = (batch: readonly ChatEvent[]) => Promise<void> | undefined
