export type { ApiPromise, WithResponse } from './api-promise.ts'
export type { ChatParams } from './chat/chat-request.ts'
export type { ChatStream, ChatStreamEvents } from './chat/chat-stream.ts'
export { type ChatStreamSource, type ReadChatStreamOptions, readChatStream } from './chat/read-chat-stream.ts'
export type { Reply } from './chat/reply.ts'
export { ChatClient } from './chat-client.ts'
export {
  AbortError,
  ConnectionError,
  type ErrorFields,
  type FieldMistake,
  IdleTimeoutError,
  InvalidResponseError,
  StatusError,
  StreamFailedError,
  TimeoutError,
  TruncatedStreamError,
  TrunklineError,
} from './errors.ts'
export type {
  ChatChunk,
  ChatReply,
  ChatRequest,
  DetailEvent,
  ErrorReason,
  Pause,
  PauseAnswer,
  PauseField,
  ReplyFile,
  TokenUsage,
} from './generated/wire.ts'
export type { ChatFileType, FinishReason } from './generated/words.ts'
export type {
  CallOptions,
  ChatClientOptions,
  ChatStreamOptions,
  Fetch,
  FetchInit,
  FetchResponse,
  RequestMethod,
} from './options.ts'
export type { Chat } from './resources/chat.ts'
export type { PauseFieldType } from './unions.ts'
