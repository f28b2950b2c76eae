import type { WithResponse } from '../api-promise.ts'
import { chatRequest, type ServerChatParams } from '../chat/chat-request.ts'
import type { Reply } from '../chat/reply.ts'
import { type OpenOptions, ServerChatStream, type ServerChatStreamSpec } from '../chat/server-chat-stream.ts'
import { ConnectionError } from '../errors.ts'
import type { KeptCall } from '../kept/kept-call.ts'
import type { CallReference } from '../kept/kept-types.ts'
import type { CallOptions, ChatClientOptions, ChatStreamOptions } from '../options.ts'
import { randomId } from '../transport/random-id.ts'
import type { Transport } from '../transport/transport.ts'
import { Chat, readReply } from './chat.ts'
import { Conversation, type ConversationParams } from './conversation.ts'

/** Chats with an agent, also in conversations, and kept ones; reached as `client.chat`. */
export class ServerChat extends Chat<ServerChatStream, ServerChatParams> {
  readonly #transport: Transport
  readonly #options: ChatClientOptions

  constructor(transport: Transport, options: ChatClientOptions) {
    super(transport, options, (spec) => new ServerChatStream(spec))
    this.#transport = transport
    this.#options = options
  }

  /**
   * Sends a message and returns the reply as a stream. The request is sent when something begins to read it.
   *
   * @example
   * ```ts
   * const stream = client.chat.stream({ agent: 'fastgpt', app_id: 'demo', query: 'Hello', keep: true })
   * for await (const chunk of stream) {
   *   console.log(chunk.choices[0]?.delta.content ?? '')
   * }
   * ```
   */
  override stream(params: ServerChatParams, options?: ChatStreamOptions): ServerChatStream {
    const open: ServerChatStreamSpec['open'] = (signal, onKept) =>
      this.open(params, { ...options, signal, onKept })
    return this.streamOf(open, params, options)
  }

  /**
   * Begins a conversation, or continues the one whose `id` is given.
   *
   * @example
   * ```ts
   * const talk = client.chat.conversation({ agent: 'fastgpt', app_id: 'demo' })
   * await talk.create('My name is Ada.')
   * console.log(await talk.stream('What is my name?').text())
   * ```
   */
  conversation(params: ConversationParams = {}): Conversation {
    return new Conversation(this, params)
  }

  /** @internal */
  override async reply(
    params: ServerChatParams,
    options: CallOptions | undefined,
  ): Promise<WithResponse<Reply>> {
    const { sender, chat } = await this.#partsOf(params)
    return await sender.send(chatRequest(this.#options.agent, chat, false), options, readReply)
  }

  /** @internal */
  override async open(params: ServerChatParams, options: OpenOptions): Promise<Response> {
    const { sender, chat } = await this.#partsOf(params)
    return await sender.open(chatRequest(this.#options.agent, chat, true), options)
  }

  /**
   * Loads the part of the package that knows kept calls, which pages without them do not need.
   *
   * @internal
   */
  async keptCall(reference: CallReference, after?: number): Promise<KeptCall> {
    const { KeptCall } = await import('../kept/kept-call.ts')
    return new KeptCall(this.#transport, this.#options, ConnectionError, reference, after)
  }

  /** What sends a chat, and what of the parameters is sent. A program in JavaScript may pass none. */
  async #partsOf(params: ServerChatParams) {
    const { keep, idempotencyKey = keep ? randomId() : undefined, ...chat } = params ?? {}
    const isKept = idempotencyKey !== undefined
    const sender: Pick<Transport, 'open' | 'send'> = isKept
      ? await this.keptCall({ idempotencyKey })
      : this.#transport
    return { sender, chat }
  }
}
