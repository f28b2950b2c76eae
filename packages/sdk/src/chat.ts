export type { ApiPromise, WithResponse } from './api-promise.ts'
export type { ChatParams } from './chat/chat-request.ts'
export type { ChatStream, ChatStreamEvents } from './chat/chat-stream.ts'
export type { Conversation, ConversationParams } from './chat/conversation.ts'
export { type ChatStreamSource, type ReadChatStreamOptions, readChatStream } from './chat/read-chat-stream.ts'
export { ChatClient } from './chat-client.ts'
export * from './errors.ts'
export type {
  ChatChunk,
  ChatReply,
  ChatRequest,
  DetailEvent,
  ErrorReason,
  TokenUsage,
} from './generated/wire.ts'
export type { CallOptions, ChatClientOptions, ChatStreamOptions, Logger } from './options.ts'
export type { Chat } from './resources/chat.ts'
