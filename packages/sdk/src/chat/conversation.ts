import { type ApiPromise, apiPromise } from '../api-promise.ts'
import type { ChatReply } from '../generated/wire.ts'
import type { CallOptions, ChatStreamOptions } from '../options.ts'
import type { ChatParams } from './chat-request.ts'
import type { ChatStream } from './chat-stream.ts'

/** What holds for every message of a conversation, and the id of one that exists already. */
export type ConversationParams = Omit<ChatParams, 'query' | 'chat_id' | 'conversation_id'> & {
  /** The conversation to continue. Without it the first reply names a new one; `hiagent` needs one of your own making. */
  id?: string | undefined
}

interface Chats<Stream> {
  create(params: ChatParams, options?: CallOptions): ApiPromise<ChatReply>
  stream(params: ChatParams, options: ChatStreamOptions | undefined, onId: (id: string) => void): Stream
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
export class Conversation<Stream extends ChatStream = ChatStream> {
  readonly #chats: Chats<Stream>
  readonly #params: Omit<ChatParams, 'query'>
  #id: string | undefined

  constructor(chats: Chats<Stream>, { id, ...params }: ConversationParams) {
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
   * console.log(reply.choices[0]?.message.content)
   * ```
   */
  create(message: string | ChatParams, options?: CallOptions): ApiPromise<ChatReply> {
    const reply = this.#chats.create(this.#paramsOf(message), options).withResponse()
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
  stream(message: string | ChatParams, options?: ChatStreamOptions): Stream {
    return this.#chats.stream(this.#paramsOf(message), options, (id) => this.#keep(id))
  }

  #paramsOf(message: string | ChatParams): ChatParams {
    // Each agent reads the one of the two that is its own.
    const id = this.#id ? { chat_id: this.#id, conversation_id: this.#id } : {}
    return { ...this.#params, ...(typeof message === 'string' ? { query: message } : message), ...id }
  }

  #keep(id: string): void {
    if (id !== '') this.#id ??= id
  }
}
