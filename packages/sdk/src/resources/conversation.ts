import { type ApiPromise, apiPromise } from '../api-promise.ts'
import type { ServerChatParams } from '../chat/chat-request.ts'
import type { Reply } from '../chat/reply.ts'
import type { OpenOptions, ServerChatStream, ServerChatStreamSpec } from '../chat/server-chat-stream.ts'
import type { CallOptions, ChatStreamOptions } from '../options.ts'
import { BadRequestError } from '../status-errors.ts'
import type { Chat } from './chat.ts'

/** What holds for every message of a conversation, and the id of one that exists already. */
export type ConversationParams = Omit<
  ServerChatParams,
  'query' | 'chat_id' | 'conversation_id' | 'idempotencyKey'
> & {
  /** The conversation to continue. Without it the first reply names a new one. */
  id?: string | undefined
}

/**
 * A conversation, which keeps the id that the first reply names and sends it with every message from then on. Send one message
 * after the other: the gateway refuses a second one while the first is being answered.
 *
 * @example
 * ```ts
 * const talk = client.chat.conversation({ agent: 'fastgpt', app_id: 'demo' })
 * await talk.create('My name is Ada.')
 * console.log(await talk.stream('What is my name?').text(), talk.id)
 * ```
 */
export class Conversation {
  readonly #chats: Chat<ServerChatStream, ServerChatParams>
  readonly #params: Omit<ServerChatParams, 'query'>
  #id: string | undefined

  constructor(chats: Chat<ServerChatStream, ServerChatParams>, { id, ...params }: ConversationParams) {
    this.#chats = chats
    this.#params = params
    this.#id = id
  }

  /** The id of the conversation; undefined before the first reply has named it. */
  get id(): string | undefined {
    return this.#id
  }

  /**
   * Sends a message, given alone or with further fields, and resolves with the whole reply.
   *
   * @example
   * ```ts
   * const talk = client.chat.conversation({ agent: 'dify' })
   * const reply = await talk.create({ query: 'My name is Ada.', user: 'ada' })
   * console.log(reply.text)
   * ```
   */
  create(message: string | ServerChatParams, options?: CallOptions): ApiPromise<Reply> {
    const reply = this.#send(message, (params) => this.#chats.reply(params, options))
    return apiPromise(
      reply.then((received) => {
        this.#keep(received.data.id)
        return received
      }),
    )
  }

  /**
   * Sends a message, given alone or with further fields, and returns the reply as a stream.
   *
   * @example
   * ```ts
   * const talk = client.chat.conversation({ agent: 'dify' })
   * for await (const chunk of talk.stream('Hello')) console.log(chunk.choices[0]?.delta.content ?? '')
   * console.log(talk.id)
   * ```
   */
  stream(message: string | ServerChatParams, options?: ChatStreamOptions): ServerChatStream {
    const open: ServerChatStreamSpec['open'] = (signal, onKept) => {
      const opening: OpenOptions = { ...options, signal, onKept }
      return this.#send(message, (params) => this.#chats.open(params, opening))
    }
    return this.#chats.streamOf(open, this.#paramsOf(message), options, (id) => this.#keep(id))
  }

  /** Sends a message, and once more if the agent leaves it to its callers to name a conversation, which a refusal shows. */
  async #send<T>(
    message: string | ServerChatParams,
    attempt: (params: ServerChatParams) => Promise<T>,
  ): Promise<T> {
    const params = this.#paramsOf(message)
    try {
      return await attempt(params)
    } catch (error) {
      const needsId = error instanceof BadRequestError && error.reason === 'conversation_id_required'
      if (params.conversation_id || !needsId) throw error
      // Two first messages at once are of one conversation. The refused one was not counted.
      this.#keep(crypto.getRandomValues(new Uint32Array(4)).join('-'))
      return await attempt(this.#paramsOf(message))
    }
  }

  #paramsOf(message: string | ServerChatParams): ServerChatParams {
    // Each agent reads the one of the two that is its own.
    const ids = this.#id ? { chat_id: this.#id, conversation_id: this.#id } : {}
    return { ...this.#params, ...(typeof message === 'string' ? { query: message } : message), ...ids }
  }

  #keep(id: string): void {
    if (id !== '') this.#id ??= id
  }
}
