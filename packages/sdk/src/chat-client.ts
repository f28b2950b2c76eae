import { ChatStream } from './chat/chat-stream.ts'
import { resolveOptions } from './client-options.ts'
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
 * // TRUNKLINE_URL and TRUNKLINE_API_KEY of the environment say where and who.
 * const { chat } = new ChatClient({ agent: 'fastgpt' })
 * const reply = await chat.create({ app_id: 'demo', query: 'Hello' })
 * console.log(reply.text)
 * ```
 */
export class ChatClient {
  /** Chats with an agent. */
  readonly chat: Chat

  /** @throws TrunklineError naming the option that is at fault */
  constructor(options: ChatClientOptions = {}) {
    const resolved = resolveOptions(options)
    this.chat = new Chat(new Transport(resolved), resolved, (spec) => new ChatStream(spec))
  }
}
