import { type ApiPromise, apiPromise, type WithResponse } from '../api-promise.ts'
import { type ChatParams, chatRequest } from '../chat/chat-request.ts'
import type { ChatStream, ChatStreamSpec, KeptStream } from '../chat/chat-stream.ts'
import { type Reply, replyOf } from '../chat/reply.ts'
import { ConnectionError } from '../errors.ts'
import type { ChatReply } from '../generated/wire.ts'
import type { KeptCall } from '../kept/kept-call.ts'
import type { CallReference } from '../kept/kept-types.ts'
import type { CallOptions, ChatClientOptions, ChatStreamOptions } from '../options.ts'
import { readObject, type Transport } from '../transport/transport.ts'

async function readReply(response: Response): Promise<Reply> {
  return replyOf(await readObject<ChatReply>(response), response)
}

/** What opening a stream takes beside the options of the caller. */
export interface OpenOptions extends ChatStreamOptions {
  readonly onKept: (call: KeptStream) => void
}

/** Chats with an agent: `chat` of a `ChatClient`. */
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
   * console.log(reply.text)
   * ```
   */
  create(params: ChatParams, options?: CallOptions): ApiPromise<Reply> {
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
  stream(params: ChatParams, options?: ChatStreamOptions): Stream {
    const open: ChatStreamSpec['open'] = (signal, onKept) => this.open(params, { ...options, signal, onKept })
    return this.streamOf(open, params, options)
  }

  /** @internal */
  async reply(params: ChatParams, options: CallOptions | undefined): Promise<WithResponse<Reply>> {
    const sender = await this.#senderOf(params)
    return await sender.send(chatRequest(this.#options.agent, params, false), options, readReply)
  }

  /** @internal */
  async open(params: ChatParams, options: OpenOptions): Promise<Response> {
    const sender = await this.#senderOf(params)
    return await sender.open(chatRequest(this.#options.agent, params, true), options)
  }

  /** @internal */
  streamOf(
    open: ChatStreamSpec['open'],
    params: ChatParams | undefined,
    { signal, idleTimeoutMs = this.#options.idleTimeoutMs }: ChatStreamOptions = {},
    onId?: (id: string) => void,
  ): Stream {
    return this.#streamOf({
      open,
      signal,
      idleTimeoutMs,
      wantsDetail: params && params.detail === true,
      onId,
    })
  }

  /**
   * Loads the part of the package that knows kept calls, which other pages do not need.
   *
   * @internal
   */
  async keptCall(reference: CallReference | ChatParams, after?: number): Promise<KeptCall> {
    const { KeptCall } = await import('../kept/kept-call.ts')
    return new KeptCall(this.#transport, this.#options, ConnectionError, reference, after)
  }

  /** What sends a chat and obtains its reply. */
  async #senderOf(params: ChatParams): Promise<Pick<Transport, 'open' | 'send'>> {
    return params?.keep || params?.idempotencyKey !== undefined ? this.keptCall(params) : this.#transport
  }
}
