import { ChatStream } from './chat/chat-stream.ts'
import type { ChatClientOptions } from './options.ts'
import { Chat } from './resources/chat.ts'
import { Transport } from './transport/transport.ts'

/**
 * A client that only chats, for bundles in which every kilobyte counts.
 *
 * @example
 * ```ts
 * import { ChatClient } from '@trunkline/sdk/chat'
 *
 * const { chat } = new ChatClient({
 *   baseURL: process.env.TRUNKLINE_URL ?? '',
 *   apiKey: process.env.TRUNKLINE_API_KEY,
 *   agent: 'fastgpt',
 * })
 * const reply = await chat.create({ app_id: 'demo', query: 'Hello' })
 * console.log(reply.choices[0]?.message.content)
 * ```
 */
export class ChatClient {
  /** Chats with an agent. */
  readonly chat: Chat

  constructor(options: ChatClientOptions) {
    this.chat = new Chat(new Transport(options), options, (spec) => new ChatStream(spec))
  }
}
