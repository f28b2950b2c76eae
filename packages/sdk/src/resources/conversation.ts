import { type ApiPromise, apiPromise } from '../api-promise.ts'
import type { ServerChatParams } from '../chat/chat-request.ts'
import type { Reply } from '../chat/reply.ts'
import type { OpenOptions, ServerChatStream, ServerChatStreamSpec } from '../chat/server-chat-stream.ts'
import { TrunklineError } from '../errors.ts'
import type { ChatReply, Pause, PauseAnswer } from '../generated/wire.ts'
import type { CallOptions, ChatStreamOptions } from '../options.ts'
import { randomId } from '../transport/random-id.ts'
import { textIn } from '../transport/text-in.ts'
import type { Chat } from './chat.ts'

/** What holds for every message of a conversation, and the id of one that exists already. */
export type ConversationParams = Omit<
  ServerChatParams,
  'query' | 'chat_id' | 'conversation_id' | 'idempotencyKey'
> & {
  /** The conversation to continue. Without it the first reply names a new one. */
  id?: string | undefined
}

/** The answer to the open pause of a conversation, and the text beside it. */
export type ConversationAnswer = Omit<PauseAnswer, 'pause'> & {
  /** The text of the answer, or beside `cancel` an ordinary message. */
  query?: string | undefined
}

/**
 * A conversation, which keeps the id that the first reply names and sends it with every message from then on. Send one message
 * after the other: of two at once, neither answer knows the other message, and a platform that runs one at a time, as Coze,
 * FastGPT and LangGraph do, refuses the second with the reason `conversation_busy`, a `ConflictError`.
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
  #pause: Pause | undefined

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
   * What the agent has asked in its last reply, until that is answered or over; {@link Conversation.answer} answers it. Of the replies
   * that another program has received, it knows nothing.
   */
  get pause(): Pause | undefined {
    return this.#pause
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
        this.#keep(received.data)
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
    return this.#chats.streamOf(open, this.#paramsOf(message), options, (chunk) => this.#keep(chunk))
  }

  /**
   * Answers the open pause by a text, an option, the fields of a form or any JSON as `value`, and resolves with the whole reply. `cancel` gives the pause
   * up, and the `query` beside it, if there is one, is an ordinary message. The answer names its pause, so that a second click, and
   * what comes too late, are refused with the reason `pause_over`.
   *
   * @example
   * ```ts
   * const talk = client.chat.conversation({ agent: 'fastgpt', app_id: 'demo' })
   * await talk.create('sandbox:interactive')
   * const [option] = talk.pause?.options ?? []
   * if (option) console.log((await talk.answer({ option: option.id })).text)
   * ```
   *
   * @throws TrunklineError before anything is sent, if no pause is open
   */
  answer(answer: string | ConversationAnswer, options?: CallOptions): ApiPromise<Reply> {
    return this.create(this.#answering(answer), options)
  }

  /**
   * Answers the open pause as {@link Conversation.answer} does, and returns the reply as a stream.
   *
   * @example
   * ```ts
   * const talk = client.chat.conversation({ agent: 'fastgpt', app_id: 'demo' })
   * await talk.create('sandbox:interactive')
   * if (talk.pause) console.log(await talk.answerStream('确认').text())
   * ```
   *
   * @throws TrunklineError before anything is sent, if no pause is open
   */
  answerStream(answer: string | ConversationAnswer, options?: ChatStreamOptions): ServerChatStream {
    return this.stream(this.#answering(answer), options)
  }

  /** Sends a message, and once more if the agent leaves it to its callers to name a conversation, which a refusal shows. */
  async #send<T>(
    message: string | ServerChatParams,
    attempt: (params: ServerChatParams) => Promise<T>,
  ): Promise<T> {
    const params = this.#paramsOf(message)
    try {
      const received = await attempt(params)
      // What was sent is the answer, or an ordinary message because it was too late for one.
      this.#pause = undefined
      return received
    } catch (error) {
      const reason = textIn(error, 'reason')
      if (reason === 'pause_over') this.#pause = undefined
      if (params.conversation_id || reason !== 'conversation_id_required') throw error
      // Two first messages at once are of one conversation. The refused one was not counted.
      this.#keep({ id: randomId() })
      return await attempt(this.#paramsOf(message))
    }
  }

  #paramsOf(message: string | ServerChatParams): ServerChatParams {
    // Each agent reads the one of the two that is its own.
    const ids = this.#id ? { chat_id: this.#id, conversation_id: this.#id } : {}
    const params = {
      ...this.#params,
      ...(typeof message === 'string' ? { query: message } : message),
      ...ids,
    }
    if (params.answer?.pause === '') throw new TrunklineError('No pause is open.')
    return params
  }

  #answering(answer: string | ConversationAnswer): ServerChatParams {
    const { query = '', ...given } = typeof answer === 'string' ? { query: answer } : answer
    return { query, answer: { ...given, pause: this.#pause?.id ?? '' } }
  }

  #keep(received: Pick<ChatReply, 'id' | 'pause'>): void {
    this.#id ??= textIn(received, 'id') || undefined
    this.#pause = received.pause ?? this.#pause
  }
}
