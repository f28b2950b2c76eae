import type { ErrorReason, Problem } from '#core/base/errors/errors.ts'
import type { JsonObject } from '#core/base/values/json.ts'
import type { MadeFile, OfferedFile } from './made-file.ts'
import type { OfferedPause, Pause } from './pause.ts'

/** Token counts as the platform reported them. Unknown counts are an absent `TokenCounts`, never zeros. */
export interface TokenCounts {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  /** Of the prompt, where the platform reports it. */
  readonly cachedTokens?: number
  /** Of the completion, where the platform reports it. */
  readonly reasoningTokens?: number
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
  'file',
  'other',
] as const

export type DetailType = (typeof DETAIL_TYPES)[number]

/** A document on which a reply is based. */
export interface DetailSource {
  readonly title?: string | undefined
  readonly url?: string | undefined
  readonly text?: string | undefined
  /** The id of the document on the platform. */
  readonly document?: string | undefined
}

/** What each kind of detail carries in its `data`. */
export interface DetailData {
  readonly node_started: { readonly node_type?: string | undefined }
  readonly node_finished: { readonly node_type?: string | undefined }
  /** Either all arguments or a piece of them; the pieces of a call are joined. */
  readonly tool_call: {
    readonly arguments?: string | undefined
    readonly arguments_delta?: string | undefined
  }
  readonly tool_result: { readonly arguments?: string | undefined; readonly output: string }
  readonly thought: { readonly text: string }
  readonly reasoning: { readonly text: string }
  readonly sources: { readonly items: readonly DetailSource[] }
  readonly variables: { readonly values: JsonObject }
  readonly interaction: {
    readonly question?: string | undefined
    readonly options: readonly string[]
    /** The fields of a form, as the platform describes them. */
    readonly form?: unknown
  }
  readonly replaced: { readonly text: string }
  readonly file: {
    readonly type: MadeFile['type']
    readonly url?: string | undefined
    readonly media_type?: string | undefined
  }
  readonly other: Readonly<Record<string, never>>
}

/** What every detail may have. Fields that are undefined do not reach a client. */
interface DetailHead {
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly status?: string | undefined
  readonly elapsed_ms?: number | undefined
  /** What fits nowhere else, by the platform's names, odd values among it. Never nested so deep that it cannot be sent. */
  readonly raw?: JsonObject | undefined
}

/** One step of a run's progress, in a form common to all platforms; its `type` says what its `data` is. */
export type DetailEvent<Type extends DetailType = DetailType> = {
  readonly [Each in Type]: DetailHead & { readonly type: Each; readonly data: DetailData[Each] }
}[Type]

/**
 * A failure at the platform. `message` is sanitized for the client; `platform…` fields go to ledger and log.
 */
export interface Failure {
  readonly reason: ErrorReason
  readonly message?: string
  readonly retryAfterSeconds?: number
  /**
   * Set if it is proven that the platform has not taken the turn, so that the request may be sent again: a recorded reply shows
   * that it stores nothing when it refuses in this way.
   */
  readonly turn?: 'none'
  /** Set if the response is not one of the platform's API: the page of a proxy, for example. It is neither stored nor logged. */
  readonly isPage?: true
  /** Set if the reply was cut off because it exceeds a bound of the gateway; the platform works. */
  readonly isTooLarge?: true
  /** Fields of the request, as `UpstreamRequest.addedFields` names them, that the platform does not accept. It has not taken the turn then. */
  readonly refusedFields?: readonly string[]
  readonly platformStatus?: number
  readonly platformCode?: string
  readonly platformLogId?: string
  /** Set if the server's card may have changed since it was read ({@link Adapter.card}). The agent has not taken the turn then. */
  readonly outdatesCard?: true
  /** What an operator should know beside the reason, in the gateway's own words. It is logged, and never reaches a client. */
  readonly note?: string
}

/**
 * One part of a platform's reply, in a vocabulary common to all platforms. Every output (SSE, JSON, GraphQL)
 * is built from the same events. `end` is provisional: platforms send more after it, so the chat service
 * decides when the reply is over.
 */
export type ChatEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** The platform withdraws the text sent so far and replaces it with this one. `detail` is what it says about it beside the text. */
  | { readonly type: 'replace'; readonly text: string; readonly detail?: () => DetailEvent<'replaced'> }
  /** The run waits for the end user. Of several pauses of one reply only the first is passed on. */
  | { readonly type: 'pause'; readonly pause: Pause }
  /** A file that the agent has made. What clients get of it is added once it has been kept, where it is to be. */
  | { readonly type: 'file'; readonly file: MadeFile; readonly offered?: OfferedFile }
  | { readonly type: 'tool_calls'; readonly delta: readonly unknown[] }
  /** A function, so that a call without requested details costs nothing. Each call of it returns the same. */
  | { readonly type: 'detail'; readonly detail: () => DetailEvent }
  | { readonly type: 'model'; readonly model: string }
  | { readonly type: 'usage'; readonly usage: TokenCounts }
  /** How likely the tokens of the text before it were, in OpenAI's form. Only if the caller has requested it. */
  | { readonly type: 'logprobs'; readonly logprobs: JsonObject }
  /** What the answer is based on, in the form of the server: `top` beside the choices, `annotations` in the message. */
  | { readonly type: 'citations'; readonly top: JsonObject; readonly annotations: readonly unknown[] }
  /**
   * `unknownWord` is the platform's word, if the gateway does not know it. `pause` is set by the gateway, once the pause with which
   * the reply has ended can be answered.
   */
  | {
      readonly type: 'end'
      readonly reason: FinishReason
      readonly unknownWord?: string
      readonly pause?: OfferedPause
      /** All files of the reply. */
      readonly files?: readonly OfferedFile[]
    }
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
