import type { Authentication } from '#core/accounts/auth/authenticate.ts'
import type { Login } from '#core/accounts/auth/login.ts'
import type { SigningKeyAdministration } from '#core/accounts/auth/signing-key-administration.ts'
import type { Tokens } from '#core/accounts/auth/tokens.ts'
import type { ExpiringKeySearch } from '#core/accounts/keys/expiring-keys.ts'
import type { KeySweep } from '#core/accounts/keys/key-sweep.ts'
import type { Keys } from '#core/accounts/keys/keys.ts'
import type { UnusedKeys } from '#core/accounts/keys/unused-keys.ts'
import type { FirstStart, Users } from '#core/accounts/users/users.ts'
import type { ChangeableCatalog } from '#core/agents/catalog.ts'
import type { Audit } from '#core/audit/audit.ts'
import type { ChainSweep } from '#core/audit/chain-sweep.ts'
import type { ChatService } from '#core/calls/chats.ts'
import type { UploadReceiver, UploadsInProgress } from '#core/calls/receiving/upload-receiver.ts'
import type { CallStops } from '#core/calls/stop-calls.ts'
import type { Configurations } from '#core/configuration/configurations.ts'
import type { Conversations } from '#core/conversations/conversations.ts'
import type { EndUsers } from '#core/erasure/end-users.ts'
import type { Processes } from '#core/ledger/process-list.ts'
import type { RefusedDocuments } from '#core/limits/refused-documents.ts'
import type { SmallReads } from '#core/limits/sharing/small-reads.ts'
import type { Replies, ReplyTasks } from '#core/reply-log/replies.ts'
import type { AuditLog, AuditTasks } from '#core/reports/audit-log/audit-log.ts'
import type { Calls } from '#core/reports/calls.ts'
import type { ChatCalls } from '#core/reports/chat-calls.ts'
import type { Refusals } from '#core/reports/refusals/refusals.ts'
import type { Usage, UsageUpkeep } from '#core/reports/usage.ts'
import type { FileKeeper } from '#core/uploads/kept-files/file-keeper.ts'
import type { UploadFiles } from '#core/uploads/upload-rows.ts'
import type { UploadSweep } from '#core/uploads/upload-sweep.ts'
import type { Uploads } from '#core/uploads/uploads.ts'
import type { Agents } from './agent-listing.ts'

/**
 * Everything that faces may call. A method that acts for a caller takes its `Principal` as the first parameter and checks
 * itself what that caller may do; other methods take a credential or return public data. Nothing else belongs here, because
 * a test calls every method as every kind of caller.
 */
export interface Services {
  readonly login: Login
  /** The public signing keys. */
  readonly tokens: Pick<Tokens, 'jwks'>
  readonly authentication: Authentication
  readonly users: Users
  readonly keys: Keys
  readonly agents: Agents
  readonly chat: Pick<ChatService, 'start' | 'startKept' | 'check'>
  readonly replies: Replies
  readonly callStops: CallStops
  readonly chatCalls: ChatCalls
  readonly uploads: Uploads & UploadReceiver
  readonly usage: Usage
  readonly calls: Calls
  readonly conversations: Conversations
  readonly endUsers: EndUsers
  readonly refusals: Refusals
  readonly audit: AuditLog
  /** The processes of the gateway. */
  readonly processes: Processes
  readonly configuration: Pick<Configurations, 'reload'>
  readonly refusedDocuments: RefusedDocuments
  readonly reads: SmallReads
}

/** What the process does without a caller. These methods check no principal, so faces must not have access to them. */
export interface ProcessTasks {
  readonly firstStart: FirstStart
  /** The agents, which it changes while the gateway runs. */
  readonly agents: Pick<ChangeableCatalog, 'replace' | 'current'>
  readonly configuration: Omit<Configurations, 'reload'>
  readonly chat: Pick<ChatService, 'drain' | 'inFlight'>
  readonly uploads: UploadsInProgress &
    UploadSweep & { files(after: string | undefined): Promise<UploadFiles> }
  readonly usage: UsageUpkeep
  readonly keys: KeySweep & UnusedKeys & ExpiringKeySearch
  readonly replies: ReplyTasks
  readonly keptFiles: Pick<FileKeeper, 'close'>
  readonly signingKeys: SigningKeyAdministration
  readonly audit: Audit & AuditTasks & ChainSweep
}
