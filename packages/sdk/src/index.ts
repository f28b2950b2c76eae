export type { ApiPromise, ListPromise, Page, WithResponse } from './api-promise.ts'
export type { ChatParams, ServerChatParams } from './chat/chat-request.ts'
export type { ChatStream, ChatStreamEvents } from './chat/chat-stream.ts'
export { type ChatStreamSource, type ReadChatStreamOptions, readChatStream } from './chat/read-chat-stream.ts'
export type { Reply } from './chat/reply.ts'
export type { ResumedStream, ServerChatStream, ServerChatStreamEvents } from './chat/server-chat-stream.ts'
export type { UIMessageStreamOptions } from './chat/ui-message-form.ts'
export type { VisitorErrorOptions } from './chat/visitor-error.ts'
export { Trunkline } from './client.ts'
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
export type * from './generated/records.ts'
export type * from './generated/words.ts'
export type {
  CallReference,
  EndedCall,
  ReplyOptions,
  ResumeOptions,
  RunningCall,
  StoppedCall,
} from './kept/kept-types.ts'
export type {
  AccessToken,
  CallOptions,
  ChatClientOptions,
  ChatStreamOptions,
  ClientOptions,
  Fetch,
  FetchInit,
  FetchResponse,
  LogFields,
  Logger,
  RequestMethod,
} from './options.ts'
export type { Agents } from './resources/agents.ts'
export type { ApiKeyChange, ApiKeyFilter, ApiKeys, NewApiKey } from './resources/api-keys.ts'
export type { Audit, AuditFilter } from './resources/audit.ts'
export type { CallFilter, Calls } from './resources/calls.ts'
export type { Chat } from './resources/chat.ts'
export type { Conversation, ConversationAnswer, ConversationParams } from './resources/conversation.ts'
export type {
  ConversationFilter,
  Conversations,
  DeletedConversation,
  Feedback,
  MessagePage,
  RatedCall,
  RenamedConversation,
} from './resources/conversations.ts'
export type { EndUsers } from './resources/end-users.ts'
export type { Processes, ProcessFilter } from './resources/processes.ts'
export type { RefusalCountQuery, RefusalFilter, Refusals } from './resources/refusals.ts'
export type { ServerChat } from './resources/server-chat.ts'
export type { DeletedUpload, UploadFilter, Uploads } from './resources/uploads.ts'
export type { Usage, UsageCsvQuery, UsageQuery } from './resources/usage.ts'
export type { UserFilter, Users } from './resources/users.ts'
export * from './status-errors.ts'
export type * from './unions.ts'
export { FileError } from './uploads/file-error.ts'
export type { UploadParams, UploadProgress } from './uploads/upload-request.ts'
export type { UploadSource } from './uploads/upload-source.ts'
