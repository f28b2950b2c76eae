import type { ErrorReason, Problem } from '#core/errors.ts'

/** Tokens as the platform reported them; unknown is an absent `Usage`, never zeros. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
}

export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls'

/** A platform's progress, the same for all platforms; `data` is JSON that the client may see. */
export interface DetailEvent {
  readonly type:
    | 'node_started'
    | 'node_finished'
    | 'tool_call'
    | 'tool_result'
    | 'thought'
    | 'reasoning'
    | 'sources'
    | 'variables'
    | 'interaction'
    | 'replaced'
    | 'other'
  readonly id?: string
  readonly name?: string
  readonly status?: string
  readonly data?: unknown
  readonly elapsed_ms?: number
}

/** What went wrong at the platform. `message` is cleaned text for the client; the rest is for the ledger and the log. */
export interface Failure {
  readonly reason: ErrorReason
  readonly message?: string
  readonly retryAfterSeconds?: number
  readonly platformStatus?: number
  readonly platformCode?: string
  readonly platformLogId?: string
}

/**
 * What a platform's reply consists of, in one vocabulary. All sinks (SSE, JSON, GraphQL) fold the same events.
 * `end` is provisional: platforms send more after it, so the chat service decides when the reply is over.
 */
export type ChatEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** The platform withdraws the text so far and gives another. */
  | { readonly type: 'replace'; readonly text: string }
  /** The platform waits for the person: a question and what may be answered. */
  | { readonly type: 'interaction'; readonly question: string; readonly options: readonly string[] }
  | { readonly type: 'tool_calls'; readonly delta: readonly unknown[] }
  | { readonly type: 'detail'; readonly detail: DetailEvent }
  | { readonly type: 'model'; readonly model: string }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'end'; readonly reason: FinishReason }
  | { readonly type: 'error'; readonly failure: Failure }

/** A reply, which can be read once. */
export interface ChatEvents {
  /**
   * Hands over batches of events, and waits for what `take` returns. Resolves after a complete reply, whose last event is
   * `end`; every other end rejects with a {@link Problem}. A problem that `take` throws ends the reply as failed. A second
   * read rejects with an ordinary error, because it is a mistake in the code of a face.
   */
  read(take: TakeEvents): Promise<void>
  /** Ends the reply because its reader wants no more of it: the platform is stopped. Does nothing after the end. */
  leave(): void
}

export type TakeEvents = (batch: readonly ChatEvent[]) => Promise<void> | undefined
