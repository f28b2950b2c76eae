import { type ApiPromise, apiPromise, type WithResponse } from '../api-promise.ts'
import { type ChatParams, chatRequest } from '../chat/chat-request.ts'
import type { ChatStream, ChatStreamSpec } from '../chat/chat-stream.ts'
import { type Reply, replyOf } from '../chat/reply.ts'
import type { ChatReply } from '../generated/wire.ts'
import type { CallOptions, ChatClientOptions, ChatStreamOptions } from '../options.ts'
import { readObject, type Transport } from '../transport/transport.ts'

export async function readReply(response: Response): Promise<Reply> {
  return replyOf(await readObject<ChatReply>(response), response)
}

/** Chats with an agent: `chat` of a `ChatClient`. */
export class Chat<Stream extends ChatStream = ChatStream, Params extends ChatParams = ChatParams> {
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
   * console.log(reply.text)
   * ```
   */
  create(params: Params, options?: CallOptions): ApiPromise<Reply> {
    return apiPromise(this.reply(params, options))
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
   */
  stream(params: Params, options?: ChatStreamOptions): Stream {
    return this.streamOf((signal) => this.open(params, { ...options, signal }), params, options)
  }

  /** @internal */
  async reply(params: Params, options: CallOptions | undefined): Promise<WithResponse<Reply>> {
    return await this.#transport.send(chatRequest(this.#options.agent, params, false), options, readReply)
  }

  /** @internal */
  open(params: Params, options: ChatStreamOptions): Promise<Response> {
    return this.#transport.open(chatRequest(this.#options.agent, params, true), options)
  }

  /** @internal */
  streamOf(
    open: ChatStreamSpec['open'],
    params: ChatParams | undefined,
    { signal, idleTimeoutMs = this.#options.idleTimeoutMs }: ChatStreamOptions = {},
    onChunk?: ChatStreamSpec['onChunk'],
  ): Stream {
    return this.#streamOf({ open, signal, idleTimeoutMs, wantsDetail: params?.detail, onChunk })
  }
}
