import type {
  Agent,
  AgentDeployment,
  ApiKey,
  AuditEvent,
  Call,
  ChatReply,
  ConversationMessages,
  FullUser,
  GatewayProcess,
  PauseField,
  Refusal,
  ReplyFile,
  ResetUsageRequest,
  UsageReport,
} from './generated/wire.ts'
import type { ApiKeyFilter } from './resources/api-keys.ts'
import type { DeletedConversation, RatedCall } from './resources/conversations.ts'
import type { ProcessFilter } from './resources/processes.ts'
import type { RefusalCountQuery } from './resources/refusals.ts'
import type { UserFilter } from './resources/users.ts'

// The words of the contract under the names that they have in GraphQL.

/** On what an agent runs. */
export type AgentPlatform = Agent['platform']
/** Whether an agent can serve calls. */
export type AgentStatus = Agent['status']
/** Which counter of an API key is reset. */
export type ApiKeyCounter = ResetUsageRequest['period']
/** By what a list of API keys is ordered. */
export type ApiKeyOrder = NonNullable<ApiKeyFilter['order_by']>
/** Which API keys a list has. */
export type ApiKeyState = NonNullable<ApiKeyFilter['state']>
/** By what right something was done. */
export type AuditActor = AuditEvent['actor']
/** What came of an operation. */
export type AuditResult = AuditEvent['result']
/** Whether calls are sent to a deployment. */
export type BreakerState = AgentDeployment['breaker']
/** The interface through which a call came. */
export type CallFace = Call['face']
/** What a call did. */
export type CallKind = Call['kind']
/** How a call ended. */
export type CallOutcome = NonNullable<Call['outcome']>
/** How calls ended, for filters: `failed` stands for all outcomes that count as failures. */
export type OutcomeFilter = CallOutcome | 'failed'
/** The state of calls, for filters: `running` stands for those that have not ended. */
export type CallState = OutcomeFilter | 'running'
/** The kind of a file that an agent has made. */
export type ChatFileType = ReplyFile['type']
/** What became of a conversation at the platform when it was deleted. */
export type ConversationAtPlatform = DeletedConversation['at_platform']
/** Why a reply ended. */
export type FinishReason = ChatReply['choices'][number]['finish_reason']
/** What is wrong with a process. */
export type GatewayProcessConcernKind = GatewayProcess['concerns'][number]['concern']
/** Which processes a list has. */
export type GatewayProcessFilter = NonNullable<ProcessFilter['state']>
/** Whether a process lives. */
export type GatewayProcessState = GatewayProcess['state']
/** Who said a message. */
export type MessageRole = ConversationMessages['items'][number]['role']
/** The order of a list. */
export type OrderDirection = NonNullable<UserFilter['order']>
/** Whether a name or a rating was passed on to the platform. */
export type PassedOn = RatedCall['passed_on']
/** What the value of a field is. */
export type PauseFieldType = PauseField['type']
/** What an API key may do. */
export type Permission = ApiKey['permissions'][number]
/** Whether a process serves the configuration that was loaded last. */
export type ProcessConfigurationState = NonNullable<GatewayProcess['configuration']>['state']
/** When the calls of a user begin to count anew. */
export type QuotaPeriod = FullUser['quota_period']
/** Whose rate limit has refused a request. */
export type RateLimitOwner = NonNullable<Refusal['limit_of']>
/** What a user thinks of an answer. */
export type Rating = NonNullable<Call['rating']>
/** The length of the buckets in which refusals are counted. */
export type RefusalCountSpan = NonNullable<RefusalCountQuery['per']>
/** The role of a user. */
export type Role = FullUser['role']
/** The length of the buckets of a report. */
export type UsageGranularity = UsageReport['granularity']
/** A property of calls by which a report can be grouped. */
export type UsageGroupBy = UsageReport['group_by'][number]
/** By what a list of users is ordered. */
export type UserOrder = NonNullable<UserFilter['order_by']>
/** Whether a user may call. */
export type UserStatus = FullUser['status']
