import type { Readable } from 'node:stream'
import type { Static, TObject } from 'typebox'
import type { ChatEvent, Failure } from './events.ts'

/**
 * The seam every platform implements: pure, synchronous translation. No fetch, no bytes, no clock, no metering.
 * A new platform is one folder (an `Adapter`, its test, its transcripts) and one line in the registry.
 */
export interface Adapter<Own extends EntrySchemas = EntrySchemas, State extends ReplyState = ReplyState> {
  /** The word that names the platform in the configuration and in records: lower-case letters and digits. */
  readonly platform: string
  /** The platform's name as people write it. */
  readonly displayName: string
  /** The properties of an entry, and of its apps, that mean something on this platform. */
  readonly entry: Own
  /** Properties that must be in the entry itself or in each of its apps. */
  readonly entryRequires: readonly string[]
  /** Request fields that must carry a real value for this agent. */
  requires(agent: Agent<Own>): readonly ('app_id' | 'conversation_id')[]
  /** Whether an `app_id` goes to the platform as the caller wrote it, where the entry lists no apps. */
  readonly takesAppIds: boolean
  features(agent: Agent<Own>): AgentFeatures
  /**
   * Who keeps the context of a conversation: `client` platforms under the id they are given, `platform` ones under ids of
   * their own (the gateway keeps the mapping), for `gateway` ones the gateway itself, `none` is asked anew every time.
   */
  context(agent: Agent<Own>): 'client' | 'platform' | 'gateway' | 'none'
  /** Whether a reply that ends well without text is an error. */
  readonly emptyReplyIsError: boolean

  buildRequest(call: AgentCall<Own>): UpstreamRequest
  /** The model that answers, where the entry names it; a reply may name another one. */
  modelOf?(call: Pick<AgentCall<Own>, 'agent' | 'app'>): string | undefined
  /** A fresh state for one reply. */
  start(call: AgentCall<Own>): State
  /** One server-sent event. Never throws; an event that cannot be parsed is an `error` event, an unknown kind is nothing. */
  translate(event: UpstreamEvent, state: State): readonly ChatEvent[]
  /** A whole JSON body that came with status 2xx, where a blocking reply or an error in disguise was sent. Never throws. */
  translateBody(body: unknown, state: State): readonly ChatEvent[]
  /** At the end of the bytes: what the state still holds back. Never throws. */
  finish(state: State): readonly ChatEvent[]
  /** A reply with status ≥ 400; `body` is parsed JSON, else the text (at most 64 KiB of it). Never throws. */
  toFailure(status: number, body: unknown, header: HeaderReader): Failure

  /** Platforms that issue conversation ids: the call that creates one before the first turn (absent: the first chat does it). */
  createConversation?(call: AgentCall<Own>): HelperCall<{ readonly platformConversationId: string }>
  /** Stops a run at the platform; undefined while the ids it needs are not known yet. */
  stop?(call: AgentCall<Own>, state: State): HelperCall<void> | undefined
  /** A cheap request that tells whether the platform is there and takes our credentials. */
  probe(agent: Agent<Own>): HelperCall<'available' | 'degraded'>
}

/** The schemas of a platform's own properties: every one is optional or has a default. */
export interface EntrySchemas {
  readonly agent: TObject
  readonly app: TObject
}

/** One entry under `agents` of the configuration: a platform's address and credentials under an id of ours. */
export interface Agent<Own extends EntrySchemas = EntrySchemas> {
  /** The value of the `Agent` header. */
  readonly id: string
  /** Speaks to the platform of the entry. */
  readonly adapter: Adapter
  readonly name: string
  readonly description: string
  readonly baseUrl: string
  readonly apiKey?: string
  /** Empty: the entry lists no apps. */
  readonly apps: readonly AgentApp<Own>[]
  /** The entry's properties that only its platform knows. */
  readonly options: Readonly<Static<Own['agent']>>
  readonly timeouts: Timeouts
  /** How long a reported end waits for what platforms send after it. */
  readonly endGraceMs: number
  /** Whether reasoning may reach OpenAI-compatible clients as `delta.reasoning_content`. */
  readonly reasoning: boolean
  readonly sandbox: boolean
}

export interface AgentApp<Own extends EntrySchemas = EntrySchemas> {
  readonly id: string
  readonly name: string
  readonly default: boolean
  readonly apiKey?: string
  readonly options: Readonly<Static<Own['app']>>
}

export interface Timeouts {
  readonly connectMs: number
  readonly firstByteMs: number
  readonly idleMs: number
  readonly totalMs: number
}

export interface AgentFeatures {
  readonly stream: boolean
  readonly detail: boolean
  readonly files: boolean
  readonly conversation: boolean
  readonly usage: boolean
  readonly stop: boolean
}

/** One message of the OpenAI-compatible face; `extra` carries what only `openai` agents understand (tool calls, names). */
export interface CallMessage {
  readonly role: string
  readonly content: unknown
  readonly extra?: Readonly<Record<string, unknown>>
}

/** A file that goes with a question, as platforms want it described. */
export interface AgentFile {
  readonly url: string
  readonly name: string
  readonly kind: 'image' | 'video' | 'audio' | 'document' | 'custom'
}

/** Everything an adapter may know of one chat call. */
export interface AgentCall<Own extends EntrySchemas = EntrySchemas> {
  readonly agent: Agent<Own>
  /** The configured app that was chosen, where the entry lists apps. */
  readonly app: AgentApp<Own> | undefined
  /** The caller's `app_id`, for platforms that take it as it is. */
  readonly appId: string
  /** Whether the client reads a stream. */
  readonly stream: boolean
  readonly query: string
  /** The caller's own array of messages, where the face has one, or kept turns before the query (`openai` agents). */
  readonly messages: readonly CallMessage[] | undefined
  readonly files: readonly AgentFile[]
  readonly variables: Readonly<Record<string, unknown>>
  /** The conversation's id at the platform: derived for `client` platforms, undefined for a new one of `platform` ones. */
  readonly platformConversationId: string | undefined
  /** Stable, opaque id of (owner, end user): 20 characters `[0-9a-z]`. */
  readonly endUser: string
  /** OpenAI parameters (tools, sampling) that `openai` agents pass through. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** What is learned in mid-reply; adapters extend it. */
export interface ReplyState {
  /** The platform's conversation id as its reply names it. */
  platformConversationId?: string
  /** The id by which the platform can stop this run. */
  runId?: string
  /** The id that some platforms want beside it. */
  messageId?: string
}

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /**
   * A stream is read as fast as the platform takes it and is destroyed with the exchange. Its own error ends the exchange as
   * it is. Without a `content-length` among the headers it is sent in chunks.
   */
  readonly body?: string | Readable
}

export interface UpstreamEvent {
  /** The SSE field `event`; absent where the platform sends none. */
  readonly event: string | undefined
  readonly data: string
}

export type HeaderReader = (name: string) => string | undefined

/** A platform's side call as data: the request, and how its reply is read. */
export interface HelperCall<Result> {
  readonly request: UpstreamRequest
  read(status: number, body: unknown, header: HeaderReader): { ok: Result } | { failure: Failure }
}
