import type { ServerChatStream } from '../chat/server-chat-stream.ts'
import { Chat } from './chat.ts'
import { Conversation, type ConversationParams } from './conversation.ts'

/** Chats with an agent, also in conversations; reached as `client.chat`. */
export class ServerChat extends Chat<ServerChatStream> {
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
}
