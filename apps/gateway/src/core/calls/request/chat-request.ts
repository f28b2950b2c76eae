import type { ReadEndUser } from '#core/accounts/auth/authenticate.ts'
import type { CallMessage } from '#core/agents/adapter.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import type { CallFace } from '#core/ledger/call-kinds.ts'
import type { KeptForm } from '#core/reply-log/kept-form.ts'
import type { RequestTrace } from '#core/requests/request-trace.ts'
import type { ChatHead } from './chat-head.ts'
import type { CallFile } from './messages.ts'

/** A chat as a face passes it on: the types of its fields are checked, their values are not. */
export interface ChatRequest {
  readonly requestId: string
  readonly trace?: RequestTrace | undefined
  readonly face: CallFace
  /** The API key; it has the form of one but may not exist. */
  readonly credential: string
  /** The client's network address, by which the limit on refused keys counts. */
  readonly address: string
  readonly agent: AgentName
  readonly asks: RequestedQuestion | RequestedMessages
  readonly conversation: ConversationName
  /** Present if the request answers a pause by its id. */
  readonly answer?: RequestedAnswer | undefined
  /** The end user as the request itself names it, which is believed where no trusted proxy names one. */
  readonly endUser: string
  readonly readEndUser: ReadEndUser
  readonly stream: boolean
  /** Present if the request has an `Idempotency-Key`. */
  readonly kept?: KeptRequest
}

/** The answer to a pause, by the id of the pause. */
export interface RequestedAnswer {
  readonly pause: string
  readonly option?: string | undefined
  readonly fields?: Readonly<Record<string, unknown>> | undefined
  /** Any JSON, in place of option and fields. */
  readonly value?: unknown
  /** Whether the pause is given up. */
  readonly cancel?: boolean | undefined
}

export interface KeptChatRequest extends ChatRequest {
  readonly kept: KeptRequest
}

/** What a request brings whose reply is to be kept. */
export interface KeptRequest {
  /** SHA-256 of the `Idempotency-Key`, in hex. */
  readonly keyHash: string
  /** SHA-256, in hex, of what the face asks as it was parsed, whatever the order of its fields. */
  readonly bodyHash: string
  /** Creates the form in which the reply is kept. */
  readonly form: (chat: ChatHead) => KeptForm
}

/** How a request names the agent and the app. */
export interface AgentName {
  /** The raw value of the `Agent` header, or of the field that the face has in its place. */
  readonly id: string | undefined
  readonly appId: string
  /** The model of the request, on faces where it names the app. */
  readonly model?: string
  /** Whether the model names the agent as well. */
  readonly isInModel?: boolean
}

/** How a request names the conversation. */
export interface ConversationName {
  /** REST has two names for it. Which one counts depends on the agent. */
  readonly chatId: string
  readonly conversationId: string
  /** Earlier calls of the conversation, which goes on after the last of them. */
  readonly after?: readonly EarlierCallName[]
}

/** An earlier call of a conversation that a call continues, and the field that names it. */
export interface EarlierCallName {
  readonly callId: string
  readonly field: FieldPath
}

export interface RequestedQuestion {
  readonly kind: 'question'
  readonly query: string
  /** URLs. */
  readonly files: readonly CallFile[]
  readonly variables: Readonly<Record<string, unknown>>
}

/** The tools that a client offers. */
export interface RequestedTools {
  /** The fields that offer them; none if no tool may be called. */
  readonly fields: readonly FieldPath[]
  /** Their kinds, such as `function`. */
  readonly kinds: readonly string[]
  /** The field that makes the agent call one, if there is such a field. */
  readonly forcedBy: FieldPath | undefined
}

export interface RequestedMessages {
  readonly kind: 'messages'
  readonly messages: readonly CallMessage[]
  readonly parameters: Readonly<Record<string, unknown>>
  /** Fields of OpenAI's that the request has and the gateway serves itself, by their names in chat completions. */
  readonly sentFields: readonly string[]
  /** The tools, which only agents that take the message array as it is can call. */
  readonly tools: RequestedTools
  /** Other fields of the request that are supported only by such agents. */
  readonly unsupported: readonly FieldPath[]
  /**
   * Whether the gateway keeps the turn for an agent without memory although the request carries messages; the turns kept
   * before then stand for what the messages repeat of them.
   */
  readonly keepsTurn: boolean
}
