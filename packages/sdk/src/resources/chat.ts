import type { ApiPromise } from '../api-promise.ts'
import { type ChatParams, chatRequest } from '../chat/chat-request.ts'
import type { ChatStream, ChatStreamSpec } from '../chat/chat-stream.ts'
import { Conversation, type ConversationParams } from '../chat/conversation.ts'
import type { ChatReply } from '../generated/wire.ts'
import type { CallOptions, ChatClientOptions, ChatStreamOptions } from '../options.ts'
import type { Transport } from '../transport/transport.ts'

/** Chats with an agent; reached as `client.chat`. */
export class Chat<Stream extends ChatStream = ChatStream> {
  readonly #transport: Transport
  readonly #options: ChatClientOptions
  readonly #streamOf: (spec: ChatStreamSpec) => Stream

  constructor(transport: Transport, options: ChatClientOptions, streamOf: (spec: ChatStreamSpec) => Stream) {
    this.#transport = transport
    this.#options = options
    this.#streamOf = streamOf
  }

  /**
   * Sends a message and resolves with the whole reply.
   *
   * @example
   * ```ts
   * const reply = await client.chat.create({ agent: 'fastgpt', app_id: 'demo', query: 'Hello' })
   * console.log(reply.choices[0]?.message.content)
   * ```
   */
  create(params: ChatParams, options?: CallOptions): ApiPromise<ChatReply> {
    return this.#transport.json(chatRequest(this.#options.agent, params, false), options)
  }

  /**
   * Sends a message and returns the reply as a stream. The request is sent when something begins to read it.
   *
   * @example
   * ```ts
   * for await (const chunk of client.chat.stream({ agent: 'fastgpt', app_id: 'demo', query: 'Hello' })) {
   *   console.log(chunk.choices[0]?.delta.content ?? '')
   * }
   * ```
   *
   * @param onId is called with the id of the conversation, as soon as a chunk names it
   */
  stream(
    params: ChatParams,
    { idleTimeoutMs, ...options }: ChatStreamOptions = {},
    onId?: (id: string) => void,
  ): Stream {
    const request = chatRequest(this.#options.agent, params, true)
    return this.#streamOf({
      open: (signal) => this.#transport.open(request, { ...options, signal }),
      signal: options.signal,
      idleTimeoutMs: idleTimeoutMs ?? this.#options.idleTimeoutMs,
      wantsDetail: params.detail === true,
      onId,
    })
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
  conversation(params: ConversationParams = {}): Conversation<Stream> {
    return new Conversation(this, params)
  }
}
