import type { Readable } from 'node:stream'
import type { Static, TObject } from 'typebox'
import type { ChatEvent, Failure, FinishReason, TokenCounts } from './events.ts'
import type { PauseAnswer } from './pause.ts'

/**
 * The interface that every platform implements: pure, synchronous translation. An adapter opens no
 * connections, sees no raw bytes, reads no clock and meters nothing, so that it can be tested against
 * recorded replies alone. A new platform is one folder (an `Adapter`, its test, its transcripts) and one line
 * in the registry.
 */
export interface Adapter<
  Own extends EntrySchemas = EntrySchemas,
  State extends ReplyState = ReplyState,
  Card = unknown,
> {
  /** Identifies the platform in the configuration and in records: lower-case letters and digits. */
  readonly platform: string
  /** The platform's name as its makers write it. */
  readonly displayName: string
  /** The properties of an entry, and of its apps, that only this platform understands. */
  readonly entry: Own
  /** Properties that must be set in the entry itself, in each of its apps or in each of its deployments. */
  readonly entryRequires: readonly string[]
  /** The address of the platform's API by that of the entry, which has no slash at its end; absent where they are the same. */
  apiUrl?(baseUrl: string): string
  /** The value of {@link AgentFacts.requires}. */
  requires(agent: AgentSettings<Own>): AgentFacts['requires']
  /** Whether an `app_id` is passed to the platform unchanged when the entry lists no apps. */
  readonly takesAppIds: boolean
  /** How long a run may send nothing by default, in milliseconds; absent where that is as for other platforms. */
  readonly idleMs?: number
  features(agent: Agent<Own>): Omit<AgentFeatures, 'conversations'>
  /** The value of {@link AgentFacts.context}. */
  context(agent: AgentSettings<Own>): AgentFacts['context']
  /** What an `app_id` is and where it is found, for callers that lack one. */
  readonly appIdHint?: string
  /** Whether a `data:` URL may stand wherever the platform takes the URL of a file. */
  readonly takesDataUrls: boolean
  /** Whether a request says if the conversation may be made by it ({@link AgentCall.isNew}), which costs a look into the ledger. */
  readonly makesConversations?: true
  /** Whether a reply that ends without any content may be all that the agent had to say. Absent where it never is. */
  mayBeEmpty?(state: State, reply: EmptyReply): boolean

  /**
   * What the server of an agent says of itself, without which no request can be built: where it takes requests, and in which form.
   * It is known from the entry, or has to be asked for. Absent on platforms whose servers are all alike.
   */
  card?(agent: Agent<Own>): KnownCard<Card> | HelperCall<Card>

  buildRequest(call: AgentCall<Own, Card>): UpstreamRequest
  /** The model that the entry configures, if any; a reply may name a different one. */
  modelOf?(call: Pick<AgentCall<Own>, 'agent' | 'app'>): string | undefined
  /**
   * Sends the answer to a pause in a request of its own, where the rest of the run comes in the reply to another one. That one is
   * built by {@link Adapter.buildRequest}; the answer is sent once its first event has come, and what came before is not part of the
   * reply. Absent on platforms that take the answer as the user's next message.
   */
  submitAnswer?(call: AgentCall<Own, Card>, answer: PauseAnswer): HelperCall<void>
  /**
   * Asks for what a reply does not say itself, once its bytes have ended: the events are those that were missing, or the run still
   * works and is asked about again later. Returns undefined if nothing is missing.
   */
  conclude?(call: AgentCall<Own, Card>, state: State): HelperCall<Conclusion> | undefined
  /** Creates the state for one reply. */
  start(call: AgentCall<Own, Card>): State
  /** Learns from the head of a successful reply what its events say later or not at all. Absent where they say everything. */
  begin?(header: HeaderReader, state: State): void
  /** Translates one server-sent event. Unparsable data becomes an `error` event. Never throws. */
  translate(event: UpstreamEvent, state: State): readonly ChatEvent[]
  /** Translates a body with status 2xx: a blocking reply, or an error with a success status. Never throws. */
  translateBody(body: unknown, state: State): readonly ChatEvent[]
  /** Returns the events that the state still holds back when the bytes have ended. Never throws. */
  finish(state: State): readonly ChatEvent[]
  /**
   * Maps a reply with status ≥ 400; `body` is parsed JSON, or text, of which at most the first 64 KiB are read. Never throws.
   *
   * @param state - of the reply to a chat; absent for other calls
   */
  toFailure(status: number, body: unknown, header: HeaderReader, state?: State): Failure

  /**
   * Creates a conversation before its first turn; absent on platforms where the first chat call creates it.
   */
  createConversation?(call: AgentCall<Own, Card>): HelperCall<{ readonly platformConversationId: string }>
  /**
   * Brings a file to the platform, for this call's credential and end user. Absent on platforms that take files by URL
   * alone. A refused file is the failure `agent_rejected_input`, whose message names the file.
   */
  uploadFile?(call: AgentCall<Own, Card>, file: FileToUpload): HelperCall<{ readonly platformFileId: string }>
  /** Whether the failure of a chat may mean that the platform does not accept the id of an uploaded file any more. */
  isFileRefusal?(failure: Failure): boolean
  /** Stops a run at the platform. Returns undefined while the ids that the call needs are unknown. */
  stop?(call: AgentCall<Own, Card>, state: State): HelperCall<void> | undefined
  /**
   * What can be asked of a conversation that exists at the platform. Undefined where the platform keeps none for this agent, as
   * Dify does not for a workflow.
   */
  conversations?(agent: Agent<Own>): ConversationCalls<Own, Card> | undefined
  /** A cheap request that checks whether the platform is reachable and accepts our credentials. */
  probe(agent: Agent<Own>, card?: Card): HelperCall<'available' | 'degraded'>
}

/**
 * What a platform says of a run after the bytes of its reply have ended: what was missing, that the run still works, or something
 * after which the adapter asks for something else at once (`again`).
 */
export type Conclusion = readonly ChatEvent[] | 'working' | 'again'

/** Calls about a conversation that the platform keeps. Each is absent where the platform has no such call. */
export interface ConversationCalls<Own extends EntrySchemas = EntrySchemas, Card = unknown> {
  /**
   * Reads a page of the messages, the newest page first; the items of a page are in the order in which they were said. Where the
   * platform counts turns, a page may have some more than `limit`.
   */
  history?(
    conversation: PlatformConversation<Own, Card>,
    page: { readonly limit: number; readonly before?: string },
  ): HelperCall<PlatformHistory>
  /**
   * Reads the messages of one turn, by the id that its reply named ({@link ReplyState.answerId}), where the platform keeps them by
   * turn, as A2A does in tasks. None are of a turn that the platform no longer knows.
   */
  turn?(
    conversation: PlatformConversation<Own, Card>,
    answerId: string,
  ): HelperCall<readonly PlatformMessage[]>
  rename?(conversation: PlatformConversation<Own, Card>, name: string): HelperCall<void>
  /** Succeeds also if the platform has no such conversation any more, so that a repeat finishes. */
  remove?(conversation: PlatformConversation<Own, Card>): HelperCall<void>
  rate?(conversation: PlatformConversation<Own, Card>, answer: AnswerRating): HelperCall<void>
}

/** A conversation that exists at the platform. */
export interface PlatformConversation<Own extends EntrySchemas = EntrySchemas, Card = unknown> {
  /** What the server of the agent says of itself, as in {@link AgentCall.card}. */
  readonly card?: Card
  readonly agent: Agent<Own>
  /** The configured app that its turns named; undefined if the entry lists none. */
  readonly app: AgentApp<Own> | undefined
  /** The `app_id` of its turns, for platforms that take it unchanged. */
  readonly appId: string
  /** As in {@link AgentCall.endUser}. */
  readonly endUser: string
  readonly platformConversationId: string
}

/** What a user thinks of an answer. */
export interface AnswerRating {
  /** What {@link ReplyState.answerId} was when the answer was given. */
  readonly answerId: string
  /** `null` takes a rating back. */
  readonly rating: Rating | null
  readonly text?: string
}

export type Rating = 'up' | 'down'

/** A page of the messages that a platform keeps. */
export interface PlatformHistory {
  readonly items: readonly PlatformMessage[]
  /** The cursor of the next older page; absent at the beginning of the conversation. */
  readonly before?: string
}

export interface PlatformMessage {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** With their URLs as the platform has them: absolute or relative to its address, but no `data:` URLs. */
  readonly files: readonly { readonly url: string; readonly name?: string }[]
  readonly createdAt?: Date
  /** Of an answer: what {@link ReplyState.answerId} was when it was given. */
  readonly answerId?: string
  readonly rating?: Rating
}

/** What is known of a card without asking for it: what it says, or why it cannot be used. */
export type KnownCard<Card> = { readonly ok: Card } | { readonly failure: Failure }

/** The schemas of a platform's own properties. Every property must be optional or have a default. */
export interface EntrySchemas {
  readonly agent: TObject
  readonly app: TObject
}

/** An agent as it is loaded, and what is known of it by its settings alone. */
export interface Agent<Own extends EntrySchemas = EntrySchemas> extends AgentSettings<Own>, AgentFacts {}

/** What depends on the settings of an agent alone. No call asks the adapter for it. */
export interface AgentFacts {
  /** The address below which the platform has its API. */
  readonly apiUrl: string
  /** Request fields that must not be empty. */
  readonly requires: readonly ('app_id' | 'conversation_id')[]
  /**
   * Where the context of a conversation is kept. `client`: at the platform, under an id that the gateway
   * chooses. `platform`: at the platform, under an id that it issues (the gateway stores the mapping).
   * `gateway`: in the gateway. `none`: nowhere, every call starts anew.
   */
  readonly context: 'client' | 'platform' | 'gateway' | 'none'
  /** Whether the platform receives any `app_id` that a caller sends. */
  readonly takesAnyApp: boolean
}

/**
 * One entry under `agents` in the configuration: a platform's address and credentials, and an id for them.
 */
export interface AgentSettings<Own extends EntrySchemas = EntrySchemas> {
  /** The value of the `Agent` header. */
  readonly id: string
  /** The adapter of the entry's platform. */
  readonly adapter: Adapter
  readonly name: string
  readonly description: string
  readonly baseUrl: string
  readonly apiKey?: string
  /** Its origin is that of the files which the platform names without one; by default, that of the base URL. */
  readonly filesUrl?: string
  /** Whether the files that the platform makes are stored as uploads of the caller's owner. */
  readonly keepFiles: boolean
  /** Empty if the entry lists no apps. */
  readonly apps: readonly AgentApp<Own>[]
  /** The entry's platform-specific properties, as described by {@link Adapter.entry}. */
  readonly options: Readonly<Static<Own['agent']>>
  readonly connection: Connection
  readonly timeouts: Timeouts
  /**
   * How long the gateway keeps reading after a reported end, since platforms send usage and details after it.
   */
  readonly endGraceMs: number
  /** Whether reasoning may reach OpenAI-compatible clients as `delta.reasoning_content`. */
  readonly reasoning: boolean
  /** Whether what stands between `<think>` and `</think>` at the beginning of its answers is reasoning. */
  readonly thinkTags: boolean
  /** What becomes of a client's tools, if the platform takes none. */
  readonly tools: 'refuse' | 'ignore'
  /** Whether the trace context of a call is passed on to its platform. */
  readonly propagate: boolean
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

/** How the platform is connected to. */
export interface Connection {
  /** Who looks up its name: the gateway itself, by queries to name servers (`dns`), or the system (`system`). */
  readonly names: 'dns' | 'system'
  /** The URL of an HTTP(S) proxy, which then looks up the platform's name. */
  readonly proxy?: string
  /** Certificate authorities that are trusted in addition to the usual ones, as the text of a PEM file. */
  readonly ca?: string
}

export interface AgentFeatures {
  readonly stream: boolean
  readonly detail: boolean
  readonly files: boolean
  readonly conversation: boolean
  readonly usage: boolean
  readonly stop: boolean
  readonly conversations: ConversationFeatures
}

/** What can be done with the conversations of an agent. */
export interface ConversationFeatures {
  /** Whether the messages can be read. */
  readonly history: boolean
  readonly rename: boolean
  readonly delete: boolean
  /** Whether answers can be rated. */
  readonly feedback: boolean
}

/**
 * One message of the OpenAI-compatible API; `extra` carries fields only `openai` agents understand (tool
 * calls, names).
 */
export interface CallMessage {
  readonly role: string
  readonly content: unknown
  readonly extra?: Readonly<Record<string, unknown>>
}

/** A file attached to a question. */
export type AgentFile = FileByUrl | FileById

/** What platforms ask for besides the file itself. */
export interface FileDescription {
  /** With an extension that fits the content, as far as the content is known. */
  readonly name: string
  readonly kind: 'image' | 'video' | 'audio' | 'document' | 'custom'
}

export interface FileByUrl extends FileDescription {
  /** An http(s) URL, or a `data:` URL if the platform takes these ({@link Adapter.takesDataUrls}). */
  readonly url: string
}

/** A file that {@link Adapter.uploadFile} has brought to the platform. Occurs only on platforms that have this call. */
export interface FileById extends FileDescription {
  readonly platformFileId: string
}

/** A file of which the gateway has the bytes. */
export interface FileToUpload extends FileDescription {
  /** Determined from the content. It is written into a header, so it must not be the client's own text. */
  readonly mediaType: string
  /** Length of the content in bytes. */
  readonly size: number
  /** SHA-256 of the content in hex. */
  readonly sha256: string
  /** Destroyed with the request, even if it was never read. */
  readonly body: Readable
}

/** Everything an adapter may know about one chat call. */
export interface AgentCall<Own extends EntrySchemas = EntrySchemas, Card = unknown> {
  /** The id of the call, by which a platform may recognize a message that is sent once more. */
  readonly callId: string
  /** What the server of the agent says of itself, for adapters that ask for it ({@link Adapter.card}). */
  readonly card?: Card
  readonly agent: Agent<Own>
  /** The configured app that was chosen; undefined if the entry lists none. */
  readonly app: AgentApp<Own> | undefined
  /** The caller's `app_id`, for platforms that take it unchanged. */
  readonly appId: string
  /** Whether the client requested a stream. */
  readonly stream: boolean
  /**
   * Whether the conversation may be made by this call; false once a platform may have stored a turn of it. It is looked up for adapters
   * that want it alone ({@link Adapter.makesConversations}).
   */
  readonly isNew?: boolean
  /** Whether the call goes on when its client is gone, so that only a stop may end its run. */
  readonly isKept?: boolean
  readonly query: string
  /** Present if the call continues a run that waits; then it stands for the query. */
  readonly answer?: PauseAnswer
  /**
   * The messages of an OpenAI-compatible request, or the stored turns followed by the query (`openai`
   * agents).
   */
  readonly messages: readonly CallMessage[] | undefined
  readonly files: readonly AgentFile[]
  readonly variables: Readonly<Record<string, unknown>>
  /**
   * The id at the platform: derived where the context is `client`, undefined for a new conversation where
   * `platform`.
   */
  readonly platformConversationId: string | undefined
  /** Stable, opaque id of the pair (owner, end user): 20 characters `[0-9a-z]`. */
  readonly endUser: string
  /** OpenAI parameters (tools, sampling) that `openai` agents pass through. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Fields of the caller's request that the gateway serves itself, and that the platform must get since the caller has sent them. */
  readonly sentFields?: readonly string[]
  /** Fields that the platform has refused, of those that the adapter adds. */
  readonly refusedFields?: readonly string[]
}

/** What an adapter remembers between the events of one reply; adapters extend it. */
export interface ReplyState {
  /** The platform's conversation id, taken from its reply. */
  platformConversationId?: string
  /** The id that stops this run at the platform. */
  runId?: string
  /** A second id that some platforms require to stop a run. */
  messageId?: string
  /** The id under which the platform keeps the answer, so that it can be read or rated. */
  answerId?: string
  /** What an operator should know of a reply although it is a success. It is logged, and never reaches a client. */
  note?: string
}

/** What is known of a reply of which no content has come. */
export interface EmptyReply {
  readonly reason: FinishReason
  readonly hasReasoning: boolean
  readonly usage: TokenCounts | undefined
}

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /**
   * A stream is read as fast as the platform accepts it and is destroyed with the exchange. If it fails, the
   * exchange rejects with the stream's own error. Without a `content-length` header it is sent with chunked
   * encoding.
   */
  readonly body?: string | Readable
  /** The fields that the adapter has added to a chat by itself, and without which it could do. Absent on platforms where there are none. */
  readonly addedFields?: readonly string[]
}

export interface UpstreamEvent {
  /** The SSE field `event`; undefined if the platform sends none. */
  readonly event?: string | undefined
  readonly data: string
}

/**
 * Reads a header of a platform's response by its name in lower case. `date` is always there: it is the gateway's time if the
 * platform sends none, so that a date in another header can be compared without a clock.
 */
export type HeaderReader = (name: string) => string | undefined

/**
 * A call other than the chat itself (probe, stop, calls about a conversation): its request and a reader of the
 * reply.
 */
export interface HelperCall<Result> {
  readonly request: UpstreamRequest
  /** How long the reply is waited for, where that is less than for other calls of its kind. */
  readonly withinMs?: number
  /** The largest reply in bytes, where that is less than for other calls. */
  readonly replyBytesMax?: number
  /** What older releases of the platform have in place of this call. Sent where the platform does not know the path of this one. */
  readonly older?: HelperCall<Result>
  read(status: number, body: unknown, header: HeaderReader): { ok: Result } | { failure: Failure }
}
