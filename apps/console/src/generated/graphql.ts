/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
export type AgentStatus =
  | 'AVAILABLE'
  | 'DEGRADED'
  | 'UNAVAILABLE';

export type ApiKeyOrder =
  | 'CALLS_THIS_MONTH'
  | 'CALLS_TODAY'
  | 'CREATED_AT'
  | 'EXPIRES_AT'
  | 'LAST_USED_AT'
  | 'NAME'
  | 'TOTAL_CALLS';

export type ApiKeyState =
  | 'ACTIVE'
  | 'EXPIRED'
  | 'PAUSED'
  | 'REVOKED';

export type AuditFilter = {
  from?: string | null | undefined;
  keyId?: string | number | null | undefined;
  operation?: string | null | undefined;
  requestId?: string | null | undefined;
  result?: AuditResult | null | undefined;
  target?: string | null | undefined;
  targetId?: string | null | undefined;
  to?: string | null | undefined;
  userId?: string | number | null | undefined;
};

export type AuditResult =
  | 'DONE'
  | 'FAILED'
  | 'OTHER'
  | 'REFUSED';

export type BreakerState =
  | 'CLOSED'
  | 'HALF_OPEN'
  | 'OPEN';

export type CallFace =
  | 'GRAPHQL'
  | 'OPENAI'
  | 'OTHER'
  | 'RESPONSES'
  | 'REST';

export type CallFilter = {
  agentId?: string | null | undefined;
  appId?: string | null | undefined;
  conversationId?: string | null | undefined;
  deployment?: string | null | undefined;
  durationMsMin?: number | null | undefined;
  endUser?: string | null | undefined;
  face?: CallFace | null | undefined;
  firstChunkMsMin?: number | null | undefined;
  from?: string | null | undefined;
  keyId?: string | number | null | undefined;
  kind?: CallKind | null | undefined;
  model?: string | null | undefined;
  outcome?: Array<CallState> | null | undefined;
  ownerId?: string | number | null | undefined;
  paused?: boolean | null | undefined;
  reason?: string | null | undefined;
  requestId?: string | null | undefined;
  to?: string | null | undefined;
  totalTokensMin?: number | null | undefined;
};

export type CallKind =
  | 'CHAT'
  | 'OTHER'
  | 'UPLOAD';

export type CallOutcome =
  | 'CLIENT_GONE'
  | 'DONE'
  | 'DRAINED'
  | 'INTERRUPTED'
  | 'OTHER'
  | 'REJECTED'
  | 'TIMEOUT'
  | 'UPSTREAM_ERROR';

export type CallState =
  | 'CLIENT_GONE'
  | 'DONE'
  | 'DRAINED'
  | 'FAILED'
  | 'INTERRUPTED'
  | 'REJECTED'
  | 'RUNNING'
  | 'TIMEOUT'
  | 'UPSTREAM_ERROR';

export type ConversationFilter = {
  agentId?: string | null | undefined;
  appId?: string | null | undefined;
  conversationId?: string | null | undefined;
  endUser?: string | null | undefined;
  ownerId?: string | number | null | undefined;
  search?: string | null | undefined;
};

export type ErrorReason =
  | 'access_token_required'
  | 'address_denied'
  | 'agent_credentials'
  | 'agent_denied'
  | 'agent_empty_reply'
  | 'agent_error'
  | 'agent_malformed'
  | 'agent_misconfigured'
  | 'agent_overloaded'
  | 'agent_quota'
  | 'agent_rate_limited'
  | 'agent_rejected_input'
  | 'agent_requires_action'
  | 'agent_timeout'
  | 'agent_truncated'
  | 'agent_unavailable'
  | 'agent_unreachable'
  | 'answer_required'
  | 'api_key_required'
  | 'app_id_required'
  | 'app_not_found'
  | 'body_too_large'
  | 'call_not_found'
  | 'configuration_invalid'
  | 'content_filtered'
  | 'conversation_busy'
  | 'conversation_id_required'
  | 'conversation_not_found'
  | 'credential_malformed'
  | 'credential_missing'
  | 'document_invalid'
  | 'document_malformed'
  | 'document_not_found'
  | 'document_not_trusted'
  | 'draining'
  | 'file_type_not_accepted'
  | 'idempotency_mismatch'
  | 'internal_error'
  | 'interrupted'
  | 'invalid_host'
  | 'invalid_json'
  | 'invalid_request'
  | 'key_ended'
  | 'key_expired'
  | 'key_not_found'
  | 'key_paused'
  | 'key_revoked'
  | 'key_rotated'
  | 'key_unknown'
  | 'last_admin'
  | 'login_failed'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'not_supported_by_agent'
  | 'object_not_found'
  | 'operation_too_large'
  | 'owner_suspended'
  | 'pause_over'
  | 'permission_denied'
  | 'quota_exceeded'
  | 'rate_limited'
  | 'reply_gone'
  | 'role_denied'
  | 'rotation_pending'
  | 'route_not_found'
  | 'stopped'
  | 'token_expired'
  | 'token_invalid'
  | 'token_revoked'
  | 'too_many_keys'
  | 'too_many_new_keys'
  | 'unavailable'
  | 'unknown_agent'
  | 'unsupported_media_type'
  | 'upgrade_pending'
  | 'upload_not_found'
  | 'upload_space_used_up'
  | 'user_not_found'
  | 'username_taken'
  | 'websocket_not_supported';

export type GatewayProcessConcernKind =
  | 'DISK_FULL'
  | 'LEDGER_BEHIND'
  | 'UNAVAILABLE';

export type GatewayProcessState =
  | 'LIVE'
  | 'LOST'
  | 'STOPPED';

export type MessageRole =
  | 'ASSISTANT'
  | 'USER';

export type OrderDirection =
  | 'ASC'
  | 'DESC';

export type PauseFieldType =
  | 'CHECKBOX'
  | 'FILE'
  | 'FILE_LIST'
  | 'NUMBER'
  | 'PARAGRAPH'
  | 'SELECT'
  | 'TEXT';

export type Permission =
  | 'ADMIN'
  | 'CHAT'
  | 'UPLOAD';

export type ProcessConfigurationState =
  | 'CURRENT'
  | 'DIFFERENT'
  | 'PENDING';

export type QuotaPeriod =
  | 'DAY'
  | 'MONTH'
  | 'NONE';

export type Rating =
  | 'DOWN'
  | 'UP';

export type RefusalCountFilter = {
  agentId?: string | null | undefined;
  from?: string | null | undefined;
  keyId?: string | number | null | undefined;
  limitName?: string | null | undefined;
  ownerId?: string | number | null | undefined;
  reason?: string | null | undefined;
  to?: string | null | undefined;
};

export type RefusalCountSpan =
  | 'DAY'
  | 'HOUR'
  | 'MINUTE';

export type RefusalFilter = {
  agentId?: string | null | undefined;
  from?: string | null | undefined;
  keyId?: string | number | null | undefined;
  limitName?: string | null | undefined;
  ownerId?: string | number | null | undefined;
  reason?: string | null | undefined;
  requestId?: string | null | undefined;
  to?: string | null | undefined;
};

export type Role =
  | 'ADMIN'
  | 'PREMIUM'
  | 'USER';

export type UsageFilter = {
  agentId?: string | null | undefined;
  appId?: string | null | undefined;
  endUser?: string | null | undefined;
  from?: string | null | undefined;
  keyId?: string | number | null | undefined;
  model?: string | null | undefined;
  outcome?: Array<CallState> | null | undefined;
  ownerId?: string | number | null | undefined;
  to?: string | null | undefined;
};

export type UsageGranularity =
  | 'DAY'
  | 'HOUR'
  | 'MONTH';

export type UsageGroupBy =
  | 'AGENT'
  | 'APP'
  | 'CONVERSATION'
  | 'END_USER'
  | 'KEY'
  | 'MODEL'
  | 'OUTCOME'
  | 'USER';

export type UsageGroupOrder =
  | 'CALLS'
  | 'FAILED_CALLS'
  | 'TOTAL_TOKENS';

export type UserOrder =
  | 'API_CALLS_COUNT'
  | 'CREATED_AT'
  | 'LAST_LOGIN'
  | 'QUOTA_USED'
  | 'USERNAME';

export type UserStatus =
  | 'ACTIVE'
  | 'SUSPENDED';

export type AgentChoicesQueryVariables = Exact<{ [key: string]: never; }>;


export type AgentChoicesQuery = { agents: Array<{ id: string, name: string, requires: Array<string>, apps: Array<{ appId: string, name: string }> }> | null };

export type KeyChoicesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type KeyChoicesQuery = { apiKeys: { nodes: Array<{ id: string, name: string, description: string, keyPrefix: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type UserChoicesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type UserChoicesQuery = { users: { nodes: Array<{ id: string, username: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type MatchedKeyFragment = { id: string, name: string, description: string, keyPrefix: string, state: ApiKeyState, owner: { id: string, username: string, status: UserStatus } | null };

export type MatchedUserFragment = { id: string, username: string, role: Role };

export type MatchesQueryVariables = Exact<{
  text: string;
  seesUsers: boolean;
}>;


export type MatchesQuery = { apiKeys: { nodes: Array<{ id: string, name: string, description: string, keyPrefix: string, state: ApiKeyState, owner: { id: string, username: string, status: UserStatus } | null }> } | null, users?: { nodes: Array<{ id: string, username: string, role: Role }> } | null };

export type MatchByIdQueryVariables = Exact<{
  id: string | number;
}>;


export type MatchByIdQuery = { nodes: Array<
    | { id: string }
    | { id: string, name: string, description: string, keyPrefix: string, state: ApiKeyState, owner: { id: string, username: string, status: UserStatus } | null }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string, username: string, role: Role }
   | null> | null };

export type RequestsWithIdQueryVariables = Exact<{
  calls?: CallFilter | null | undefined;
  refusals?: RefusalFilter | null | undefined;
}>;


export type RequestsWithIdQuery = { calls: { nodes: Array<{ id: string }> } | null, refusals: { nodes: Array<{ id: string }> } | null };

export type CallsOfConversationQueryVariables = Exact<{
  filter?: CallFilter | null | undefined;
}>;


export type CallsOfConversationQuery = { calls: { nodes: Array<{ id: string }> } | null };

export type CountedRefusalsQueryVariables = Exact<{
  filter: RefusalCountFilter;
}>;


export type CountedRefusalsQuery = { refusalCounts: Array<{ count: number }> | null };

export type MeQueryVariables = Exact<{ [key: string]: never; }>;


export type MeQuery = { me: { id: string, username: string, role: Role, lastLogin: string | null, quota: { maxApiCalls: number, apiCallsCount: number, remaining: number, quotaPeriod: QuotaPeriod, resetsAt: string | null } } | null };

export type AgentListQueryVariables = Exact<{ [key: string]: never; }>;


export type AgentListQuery = { agents: Array<{ id: string, name: string, platform: string, description: string, status: AgentStatus, statusSince: string | null, statusReason: string | null, requires: Array<string>, sandbox: boolean, features: { stream: boolean, detail: boolean, files: boolean, conversation: boolean, usage: boolean, stop: boolean }, apps: Array<{ appId: string, name: string }>, deployments: Array<{ deploymentId: string, weight: number, priority: number, state: string, disabled: boolean, status: AgentStatus, statusSince: string | null, statusReason: string | null, probeMs: number, breaker: BreakerState, callsInFlight: number, processes: Array<{ instanceId: string, host: string | null, pid: number | null, version: string | null, breaker: BreakerState, callsInFlight: number, openSince: string | null, reason: string | null }> }> | null }> | null };

export type AgentUsageQueryVariables = Exact<{
  from: string;
  to: string;
}>;


export type AgentUsageQuery = { usage: { from: string, to: string, groups: Array<{ agentId: string | null, totals: { calls: number, failedCalls: number, totalTokens: number | null, tokenCoverage: number | null, firstChunkMs: { p50: number, p95: number, p99: number } | null, durationMs: { p50: number, p95: number, p99: number } | null }, points: Array<{ start: string, calls: number, failedCalls: number }> }> } | null };

export type AuditFieldsFragment = { before: Record<string, unknown> | null, after: Record<string, unknown> | null, n: number, format: number, at: string, operation: string, result: AuditResult, actor: string, userId: string | null, keyId: string | null, tokenId: string | null, name: string | null, address: string | null, requestId: string | null, target: string | null, targetId: string | null, reason: string | null, count: number, hash: string, user: { id: string, username: string } | null, key: { id: string, name: string } | null };

export type AuditEventsQueryVariables = Exact<{
  filter?: AuditFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type AuditEventsQuery = { auditEvents: { nodes: Array<{ before: Record<string, unknown> | null, after: Record<string, unknown> | null, n: number, format: number, at: string, operation: string, result: AuditResult, actor: string, userId: string | null, keyId: string | null, tokenId: string | null, name: string | null, address: string | null, requestId: string | null, target: string | null, targetId: string | null, reason: string | null, count: number, hash: string, user: { id: string, username: string } | null, key: { id: string, name: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type AuditTotalQueryVariables = Exact<{
  filter?: AuditFilter | null | undefined;
}>;


export type AuditTotalQuery = { auditEvents: { totalCount: number | null } | null };

export type AuditEventQueryVariables = Exact<{
  n: number;
}>;


export type AuditEventQuery = { auditEvent: { before: Record<string, unknown> | null, after: Record<string, unknown> | null, n: number, format: number, at: string, operation: string, result: AuditResult, actor: string, userId: string | null, keyId: string | null, tokenId: string | null, name: string | null, address: string | null, requestId: string | null, target: string | null, targetId: string | null, reason: string | null, count: number, hash: string, user: { id: string, username: string } | null, key: { id: string, name: string } | null } | null };

export type CallFieldsFragment = { id: string, requestId: string, keyId: string, ownerId: string, endUser: string, kind: CallKind, face: CallFace, agentId: string, appId: string, deployment: string | null, model: string | null, conversationId: string, outcome: CallOutcome | null, reason: ErrorReason | null, attempts: number | null, platformStatus: number | null, platformCode: string | null, platformLogId: string | null, instanceId: string | null, traceId: string | null, promptTokens: number | null, completionTokens: number | null, totalTokens: number | null, admittedAt: string, queuedMs: number | null, firstChunkMs: number | null, durationMs: number | null, endedAt: string | null, replays: number, paused: boolean, answersId: string | null, answeredById: string | null, rating: Rating | null, ratingText: string | null, agent: { id: string, name: string } | null, key: { id: string, name: string } | null, owner: { id: string, username: string } | null };

export type CallsQueryVariables = Exact<{
  filter?: CallFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type CallsQuery = { calls: { nodes: Array<{ id: string, requestId: string, keyId: string, ownerId: string, endUser: string, kind: CallKind, face: CallFace, agentId: string, appId: string, deployment: string | null, model: string | null, conversationId: string, outcome: CallOutcome | null, reason: ErrorReason | null, attempts: number | null, platformStatus: number | null, platformCode: string | null, platformLogId: string | null, instanceId: string | null, traceId: string | null, promptTokens: number | null, completionTokens: number | null, totalTokens: number | null, admittedAt: string, queuedMs: number | null, firstChunkMs: number | null, durationMs: number | null, endedAt: string | null, replays: number, paused: boolean, answersId: string | null, answeredById: string | null, rating: Rating | null, ratingText: string | null, agent: { id: string, name: string } | null, key: { id: string, name: string } | null, owner: { id: string, username: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type CallCountQueryVariables = Exact<{
  filter?: CallFilter | null | undefined;
}>;


export type CallCountQuery = { calls: { totalCount: number | null } | null };

export type CallQueryVariables = Exact<{
  id: string | number;
}>;


export type CallQuery = { call: { id: string, requestId: string, keyId: string, ownerId: string, endUser: string, kind: CallKind, face: CallFace, agentId: string, appId: string, deployment: string | null, model: string | null, conversationId: string, outcome: CallOutcome | null, reason: ErrorReason | null, attempts: number | null, platformStatus: number | null, platformCode: string | null, platformLogId: string | null, instanceId: string | null, traceId: string | null, promptTokens: number | null, completionTokens: number | null, totalTokens: number | null, admittedAt: string, queuedMs: number | null, firstChunkMs: number | null, durationMs: number | null, endedAt: string | null, replays: number, paused: boolean, answersId: string | null, answeredById: string | null, rating: Rating | null, ratingText: string | null, attemptList: Array<{ deployment: string, startMs: number, durationMs: number, outcome: CallOutcome, reason: ErrorReason | null, platformStatus: number | null }> | null, instance: { host: string | null, pid: number | null, version: string | null } | null, agent: { id: string, name: string } | null, key: { id: string, name: string } | null, owner: { id: string, username: string } | null } | null };

export type ConversationFieldsFragment = { id: string, conversationId: string, agentId: string, appId: string, ownerId: string, endUser: string, name: string | null, createdAt: string, lastActivityAt: string, turns: number, lastOutcome: CallOutcome | null, paused: boolean, agent: { id: string, name: string, features: { conversation: boolean, conversations: { delete: boolean } } } | null, owner: { id: string, username: string } | null };

export type ConversationsQueryVariables = Exact<{
  filter?: ConversationFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ConversationsQuery = { conversations: { nodes: Array<{ id: string, conversationId: string, agentId: string, appId: string, ownerId: string, endUser: string, name: string | null, createdAt: string, lastActivityAt: string, turns: number, lastOutcome: CallOutcome | null, paused: boolean, agent: { id: string, name: string, features: { conversation: boolean, conversations: { delete: boolean } } } | null, owner: { id: string, username: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type ConversationCountQueryVariables = Exact<{
  filter?: ConversationFilter | null | undefined;
}>;


export type ConversationCountQuery = { conversations: { totalCount: number } | null };

export type ConversationQueryVariables = Exact<{
  id: string | number;
}>;


export type ConversationQuery = { conversation: { id: string, conversationId: string, agentId: string, appId: string, ownerId: string, endUser: string, name: string | null, createdAt: string, lastActivityAt: string, turns: number, lastOutcome: CallOutcome | null, paused: boolean, agent: { id: string, name: string, features: { conversation: boolean, conversations: { delete: boolean } } } | null, owner: { id: string, username: string } | null } | null };

export type ConversationMessagesQueryVariables = Exact<{
  id: string | number;
  last?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ConversationMessagesQuery = { conversation: { messages: { isComplete: boolean, nodes: Array<{ messageId: string, role: MessageRole, text: string, createdAt: string | null, callId: string | null, rating: Rating | null, files: Array<{ url: string, name: string | null }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null } | null };

export type KeyFieldsFragment = { createdById: string, id: string, name: string, description: string, keyPrefix: string, createdAt: string, expiresAt: string, revokedAt: string | null, lastUsedAt: string | null, rotatedAt: string | null, permissions: Array<Permission>, isActive: boolean, state: ApiKeyState, pausedAt: string | null, ownerId: string, allowedAgents: Array<string> | null, allowedAddresses: Array<string> | null, limits: { chatPerMinute: number | null, uploadPerMinute: number | null }, usage: { totalCalls: number, callsToday: number, callsThisMonth: number, lastUsedAt: string | null }, owner: { id: string, username: string, status: UserStatus } | null, createdBy: { id: string, username: string } | null };

export type KeysQueryVariables = Exact<{
  search?: string | null | undefined;
  state?: ApiKeyState | null | undefined;
  expiresBefore?: string | null | undefined;
  expiresWithin?: string | null | undefined;
  unusedFor?: string | null | undefined;
  ownerId?: string | number | null | undefined;
  orderBy?: ApiKeyOrder | null | undefined;
  order?: OrderDirection | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type KeysQuery = { apiKeys: { nodes: Array<{ createdById: string, id: string, name: string, description: string, keyPrefix: string, createdAt: string, expiresAt: string, revokedAt: string | null, lastUsedAt: string | null, rotatedAt: string | null, permissions: Array<Permission>, isActive: boolean, state: ApiKeyState, pausedAt: string | null, ownerId: string, allowedAgents: Array<string> | null, allowedAddresses: Array<string> | null, limits: { chatPerMinute: number | null, uploadPerMinute: number | null }, usage: { totalCalls: number, callsToday: number, callsThisMonth: number, lastUsedAt: string | null }, owner: { id: string, username: string, status: UserStatus } | null, createdBy: { id: string, username: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type KeyQueryVariables = Exact<{
  id: string | number;
}>;


export type KeyQuery = { apiKey: { createdById: string, id: string, name: string, description: string, keyPrefix: string, createdAt: string, expiresAt: string, revokedAt: string | null, lastUsedAt: string | null, rotatedAt: string | null, permissions: Array<Permission>, isActive: boolean, state: ApiKeyState, pausedAt: string | null, ownerId: string, allowedAgents: Array<string> | null, allowedAddresses: Array<string> | null, secrets: Array<{ keyPrefix: string, lastUsedAt: string | null, endsAt: string | null }>, rateLimits: { chatPerMinute: number, uploadPerMinute: number }, owner: { id: string, username: string, status: UserStatus, quota: { apiCallsCount: number, maxApiCalls: number, quotaPeriod: QuotaPeriod, resetsAt: string | null } } | null, limits: { chatPerMinute: number | null, uploadPerMinute: number | null }, usage: { totalCalls: number, callsToday: number, callsThisMonth: number, lastUsedAt: string | null }, createdBy: { id: string, username: string } | null } | null };

export type HealthUsersQueryVariables = Exact<{ [key: string]: never; }>;


export type HealthUsersQuery = { users: { totalCount: number, nodes: Array<{ id: string, username: string }> } | null };

export type HealthKeysQueryVariables = Exact<{ [key: string]: never; }>;


export type HealthKeysQuery = { apiKeys: { nodes: Array<{ id: string, name: string, description: string, expiresAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type HealthRefusalsQueryVariables = Exact<{
  from: string;
}>;


export type HealthRefusalsQuery = { refusalCounts: Array<{ keyId: string | null, limit: string, count: number, key: { id: string, name: string } | null }> | null };

export type HealthProcessesQueryVariables = Exact<{ [key: string]: never; }>;


export type HealthProcessesQuery = { gatewayProcesses: Array<{ id: string, host: string | null, pid: number | null, port: number | null, version: string | null, state: GatewayProcessState, startedAt: string, lastSeenAt: string, concerns: Array<{ concern: GatewayProcessConcernKind, cause: string | null, blockedBy: string | null }> }> | null };

export type OverviewQueryVariables = Exact<{
  from: string;
  granularity: UsageGranularity;
  timezone: string;
}>;


export type OverviewQuery = { usage: { from: string, to: string, granularity: UsageGranularity, timezone: string, totals: { ratedUp: number, ratedDown: number, calls: number, failedCalls: number, totalTokens: number | null, tokenCoverage: number | null, firstChunkMs: { p50: number, p95: number, p99: number } | null, durationMs: { p50: number, p95: number, p99: number } | null }, points: Array<{ start: string, calls: number, failedCalls: number, firstChunkMs: { p50: number, p95: number, p99: number } | null, durationMs: { p50: number, p95: number, p99: number } | null }>, groups: Array<{ agentId: string | null, agent: { name: string } | null, totals: { calls: number, failedCalls: number, firstChunkMs: { p95: number } | null } }>, quota: { maxApiCalls: number, apiCallsCount: number, remaining: number, quotaPeriod: QuotaPeriod } } | null };

export type OverviewBeforeQueryVariables = Exact<{
  from: string;
  to: string;
  granularity: UsageGranularity;
  timezone: string;
}>;


export type OverviewBeforeQuery = { usage: { from: string, to: string, totals: { calls: number, failedCalls: number, totalTokens: number | null, tokenCoverage: number | null, firstChunkMs: { p50: number, p95: number, p99: number } | null, durationMs: { p50: number, p95: number, p99: number } | null }, groups: Array<{ agentId: string | null, agent: { name: string } | null, totals: { calls: number, failedCalls: number, firstChunkMs: { p95: number } | null } }> } | null };

export type OverviewAgentsQueryVariables = Exact<{ [key: string]: never; }>;


export type OverviewAgentsQuery = { agents: Array<{ id: string, name: string, status: AgentStatus, statusReason: string | null, statusSince: string | null }> | null };

export type FirstStepsQueryVariables = Exact<{ [key: string]: never; }>;


export type FirstStepsQuery = { apiKeys: { totalCount: number } | null, calls: { nodes: Array<{ id: string }> } | null };

export type UsageUpdatedSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type UsageUpdatedSubscription = { usageUpdated: { day: string, totals: { calls: number, failedCalls: number, totalTokens: number | null }, quota: { maxApiCalls: number, apiCallsCount: number, remaining: number, quotaPeriod: QuotaPeriod } } | null };

export type AgentNumbersFragment = { agentId: string | null, agent: { name: string } | null, totals: { calls: number, failedCalls: number, firstChunkMs: { p95: number } | null } };

export type NumbersFragment = { calls: number, failedCalls: number, totalTokens: number | null, tokenCoverage: number | null, firstChunkMs: { p50: number, p95: number, p99: number } | null, durationMs: { p50: number, p95: number, p99: number } | null };

export type PercentilesFragment = { p50: number, p95: number, p99: number };

export type QuotaLeftFragment = { maxApiCalls: number, apiCallsCount: number, remaining: number, quotaPeriod: QuotaPeriod };

export type PauseFieldsFragment = { pauseId: string, question: string, expiresAt: string | null, options: Array<{ optionId: string, title: string }>, fields: Array<{ name: string, label: string | null, type: PauseFieldType, required: boolean, options: Array<string>, default: unknown }> };

export type ChatConversationQueryVariables = Exact<{
  filter: ConversationFilter;
}>;


export type ChatConversationQuery = { conversations: { nodes: Array<{ id: string, pause: { pauseId: string, question: string, expiresAt: string | null, options: Array<{ optionId: string, title: string }>, fields: Array<{ name: string, label: string | null, type: PauseFieldType, required: boolean, options: Array<string>, default: unknown }> } | null }> } | null };

export type ProcessesQueryVariables = Exact<{ [key: string]: never; }>;


export type ProcessesQuery = { gatewayProcesses: Array<{ id: string, host: string | null, pid: number | null, port: number | null, version: string | null, build: string, state: GatewayProcessState, startedAt: string, lastSeenAt: string, stoppedAt: string | null, callsInFlight: number | null, breakers: Array<{ agentId: string, deploymentId: string, breaker: BreakerState, openSince: string | null, reason: string | null }>, configuration: { state: ProcessConfigurationState, since: string, needsRestart: Array<string>, error: string | null } | null, concerns: Array<{ concern: GatewayProcessConcernKind, cause: string | null, since: string, count: number | null, blockedBy: string | null }> }> | null };

export type RefusalFieldsFragment = { id: string, requestId: string, at: string, keyId: string | null, ownerId: string, keyPrefix: string, face: CallFace, route: string, agentId: string, reason: string, status: number, limit: string, field: string | null, limitPoints: number | null, limitWindowSeconds: number | null, limitOf: string | null, key: { id: string, name: string } | null, owner: { id: string, username: string } | null, agent: { id: string, name: string } | null };

export type RefusalsQueryVariables = Exact<{
  filter?: RefusalFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type RefusalsQuery = { refusals: { nodes: Array<{ id: string, requestId: string, at: string, keyId: string | null, ownerId: string, keyPrefix: string, face: CallFace, route: string, agentId: string, reason: string, status: number, limit: string, field: string | null, limitPoints: number | null, limitWindowSeconds: number | null, limitOf: string | null, key: { id: string, name: string } | null, owner: { id: string, username: string } | null, agent: { id: string, name: string } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type RefusalTotalQueryVariables = Exact<{
  filter?: RefusalFilter | null | undefined;
}>;


export type RefusalTotalQuery = { refusals: { totalCount: number | null } | null };

export type RefusalCountsQueryVariables = Exact<{
  filter?: RefusalCountFilter | null | undefined;
  per: RefusalCountSpan;
  timezone: string;
}>;


export type RefusalCountsQuery = { refusalCounts: Array<{ start: string, keyId: string | null, ownerId: string | null, agentId: string, reason: string, limit: string, count: number, key: { id: string, name: string } | null, owner: { id: string, username: string } | null }> | null };

export type UsageReportQueryVariables = Exact<{
  filter: UsageFilter;
  granularity: UsageGranularity;
  groupBy: Array<UsageGroupBy> | UsageGroupBy;
  timezone: string;
  orderBy: UsageGroupOrder;
  compare: boolean;
  compareFrom?: string | null | undefined;
  compareTo?: string | null | undefined;
  isGrouped: boolean;
  withCalls: boolean;
  withTokens: boolean;
  withFirstChunk: boolean;
  withDuration: boolean;
}>;


export type UsageReportQuery = { usage: { from: string, to: string, granularity: UsageGranularity, timezone: string, groupBy: Array<UsageGroupBy>, groupCount: number, totals: { calls: number, failedCalls: number, totalTokens: number | null, tokenCoverage: number | null, firstChunkMs: { p50: number, p95: number, p99: number } | null, durationMs: { p50: number, p95: number, p99: number } | null }, points: Array<{ start: string, calls?: number, failedCalls?: number, totalTokens?: number | null, firstChunkMs?: { p50: number, p95: number, p99: number } | null, durationMs?: { p50: number, p95: number, p99: number } | null }>, previous?: { from: string, to: string, totals: { calls: number, failedCalls: number, totalTokens: number | null, tokenCoverage: number | null, firstChunkMs: { p50: number, p95: number, p99: number } | null, durationMs: { p50: number, p95: number, p99: number } | null }, points: Array<{ start: string, calls?: number, failedCalls?: number, totalTokens?: number | null, firstChunkMs?: { p50: number, p95: number, p99: number } | null, durationMs?: { p50: number, p95: number, p99: number } | null }> } | null, drawn?: Array<{ agentId: string | null, appId: string | null, model: string | null, keyId: string | null, ownerId: string | null, endUser: string | null, outcome: CallOutcome | null, points: Array<{ start: string, calls?: number, failedCalls?: number, totalTokens?: number | null, firstChunkMs?: { p50: number, p95: number, p99: number } | null, durationMs?: { p50: number, p95: number, p99: number } | null }>, agent: { name: string } | null, key: { name: string, keyPrefix: string } | null, owner: { username: string } | null }>, groups?: Array<{ agentId: string | null, appId: string | null, model: string | null, keyId: string | null, ownerId: string | null, endUser: string | null, outcome: CallOutcome | null, totals: { calls: number, failedCalls: number, totalTokens: number | null, tokenCoverage: number | null, firstChunkMs: { p50: number, p95: number, p99: number } | null, durationMs: { p50: number, p95: number, p99: number } | null }, previousTotals?: { calls: number, failedCalls: number, totalTokens: number | null, tokenCoverage: number | null, firstChunkMs: { p50: number, p95: number, p99: number } | null, durationMs: { p50: number, p95: number, p99: number } | null } | null, agent: { name: string } | null, key: { name: string, keyPrefix: string } | null, owner: { username: string } | null }> } & { missingGroups?: Array<{ agentId: string | null, appId: string | null, model: string | null, keyId: string | null, ownerId: string | null, endUser: string | null, outcome: CallOutcome | null, totals: { calls: number, failedCalls: number, totalTokens: number | null, tokenCoverage: number | null, firstChunkMs: { p50: number, p95: number, p99: number } | null, durationMs: { p50: number, p95: number, p99: number } | null }, previousTotals: { calls: number, failedCalls: number, totalTokens: number | null, tokenCoverage: number | null, firstChunkMs: { p50: number, p95: number, p99: number } | null, durationMs: { p50: number, p95: number, p99: number } | null } | null, agent: { name: string } | null, key: { name: string, keyPrefix: string } | null, owner: { username: string } | null }> | null } | null };

export type MetricPointFragment = { start: string, calls?: number, failedCalls?: number, totalTokens?: number | null, firstChunkMs?: { p50: number, p95: number, p99: number } | null, durationMs?: { p50: number, p95: number, p99: number } | null };

export type GroupNameFragment = { agentId: string | null, appId: string | null, model: string | null, keyId: string | null, ownerId: string | null, endUser: string | null, outcome: CallOutcome | null, agent: { name: string } | null, key: { name: string, keyPrefix: string } | null, owner: { username: string } | null };

export type UserPageQueryVariables = Exact<{
  id: string | number;
}>;


export type UserPageQuery = { user: { quotaPeriod: QuotaPeriod, id: string, username: string, role: Role, status: UserStatus, createdAt: string, updatedAt: string, lastLogin: string | null, apiCallsCount: number, maxApiCalls: number, quota: { resetsAt: string | null }, apiKeys: { totalCount: number } | null } | null };

export type UserListQueryVariables = Exact<{
  search?: string | null | undefined;
  state?: UserStatus | null | undefined;
  role?: Role | null | undefined;
  quotaPercentMin?: number | null | undefined;
  orderBy?: UserOrder | null | undefined;
  order?: OrderDirection | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type UserListQuery = { users: { nodes: Array<{ quotaPeriod: QuotaPeriod, id: string, username: string, role: Role, status: UserStatus, createdAt: string, updatedAt: string, lastLogin: string | null, apiCallsCount: number, maxApiCalls: number }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type UserTotalQueryVariables = Exact<{
  search?: string | null | undefined;
  state?: UserStatus | null | undefined;
  role?: Role | null | undefined;
  quotaPercentMin?: number | null | undefined;
}>;


export type UserTotalQuery = { users: { totalCount: number } | null };

export type AuditEventColumnsFragment = { n: number, format: number, at: string, operation: string, result: AuditResult, actor: string, userId: string | null, keyId: string | null, tokenId: string | null, name: string | null, address: string | null, requestId: string | null, target: string | null, targetId: string | null, reason: string | null, count: number, hash: string };

export type RefusalColumnsFragment = { id: string, requestId: string, at: string, keyId: string | null, ownerId: string, keyPrefix: string, face: CallFace, route: string, agentId: string, reason: string, status: number, limit: string, field: string | null, limitPoints: number | null, limitWindowSeconds: number | null, limitOf: string | null };

export type ConversationColumnsFragment = { id: string, conversationId: string, agentId: string, appId: string, ownerId: string, endUser: string, name: string | null, createdAt: string, lastActivityAt: string, turns: number, lastOutcome: CallOutcome | null, paused: boolean };

export type CallColumnsFragment = { id: string, requestId: string, keyId: string, ownerId: string, endUser: string, kind: CallKind, face: CallFace, agentId: string, appId: string, deployment: string | null, model: string | null, conversationId: string, outcome: CallOutcome | null, reason: ErrorReason | null, attempts: number | null, platformStatus: number | null, platformCode: string | null, platformLogId: string | null, instanceId: string | null, traceId: string | null, promptTokens: number | null, completionTokens: number | null, totalTokens: number | null, admittedAt: string, queuedMs: number | null, firstChunkMs: number | null, durationMs: number | null, endedAt: string | null, replays: number, paused: boolean, answersId: string | null, answeredById: string | null, rating: Rating | null, ratingText: string | null };

export type ApiKeyColumnsFragment = { id: string, name: string, description: string, keyPrefix: string, createdAt: string, expiresAt: string, revokedAt: string | null, lastUsedAt: string | null, rotatedAt: string | null, permissions: Array<Permission>, isActive: boolean, state: ApiKeyState, pausedAt: string | null, createdById: string, ownerId: string, allowedAgents: Array<string> | null, allowedAddresses: Array<string> | null };

export type UserColumnsFragment = { id: string, username: string, role: Role, status: UserStatus, createdAt: string, updatedAt: string, lastLogin: string | null, apiCallsCount: number, maxApiCalls: number };

export type GatewayProcessColumnsFragment = { id: string, host: string | null, pid: number | null, port: number | null, version: string | null, build: string, state: GatewayProcessState, startedAt: string, lastSeenAt: string, stoppedAt: string | null, callsInFlight: number | null };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const MatchedKeyFragmentDoc = new TypedDocumentString(`fragment MatchedKey on ApiKey{id name description keyPrefix state owner{id username status}}`, {"fragmentName":"MatchedKey"}) as unknown as TypedDocumentString<MatchedKeyFragment, unknown>;
export const MatchedUserFragmentDoc = new TypedDocumentString(`fragment MatchedUser on User{id username role}`, {"fragmentName":"MatchedUser"}) as unknown as TypedDocumentString<MatchedUserFragment, unknown>;
export const AuditEventColumnsFragmentDoc = new TypedDocumentString(`fragment AuditEventColumns on AuditEvent{n format at operation result actor userId keyId tokenId name address requestId target targetId reason count hash}`, {"fragmentName":"AuditEventColumns"}) as unknown as TypedDocumentString<AuditEventColumnsFragment, unknown>;
export const AuditFieldsFragmentDoc = new TypedDocumentString(`fragment AuditFields on AuditEvent{...AuditEventColumns user{id username}key{id name}before after}fragment AuditEventColumns on AuditEvent{n format at operation result actor userId keyId tokenId name address requestId target targetId reason count hash}`, {"fragmentName":"AuditFields"}) as unknown as TypedDocumentString<AuditFieldsFragment, unknown>;
export const CallColumnsFragmentDoc = new TypedDocumentString(`fragment CallColumns on Call{id requestId keyId ownerId endUser kind face agentId appId deployment model conversationId outcome reason attempts platformStatus platformCode platformLogId instanceId traceId promptTokens completionTokens totalTokens admittedAt queuedMs firstChunkMs durationMs endedAt replays paused answersId answeredById rating ratingText}`, {"fragmentName":"CallColumns"}) as unknown as TypedDocumentString<CallColumnsFragment, unknown>;
export const CallFieldsFragmentDoc = new TypedDocumentString(`fragment CallFields on Call{...CallColumns agent{id name}key{id name}owner{id username}}fragment CallColumns on Call{id requestId keyId ownerId endUser kind face agentId appId deployment model conversationId outcome reason attempts platformStatus platformCode platformLogId instanceId traceId promptTokens completionTokens totalTokens admittedAt queuedMs firstChunkMs durationMs endedAt replays paused answersId answeredById rating ratingText}`, {"fragmentName":"CallFields"}) as unknown as TypedDocumentString<CallFieldsFragment, unknown>;
export const ConversationColumnsFragmentDoc = new TypedDocumentString(`fragment ConversationColumns on Conversation{id conversationId agentId appId ownerId endUser name createdAt lastActivityAt turns lastOutcome paused}`, {"fragmentName":"ConversationColumns"}) as unknown as TypedDocumentString<ConversationColumnsFragment, unknown>;
export const ConversationFieldsFragmentDoc = new TypedDocumentString(`fragment ConversationFields on Conversation{...ConversationColumns agent{id name features{conversation conversations{delete}}}owner{id username}}fragment ConversationColumns on Conversation{id conversationId agentId appId ownerId endUser name createdAt lastActivityAt turns lastOutcome paused}`, {"fragmentName":"ConversationFields"}) as unknown as TypedDocumentString<ConversationFieldsFragment, unknown>;
export const ApiKeyColumnsFragmentDoc = new TypedDocumentString(`fragment ApiKeyColumns on ApiKey{id name description keyPrefix createdAt expiresAt revokedAt lastUsedAt rotatedAt permissions isActive state pausedAt createdById ownerId allowedAgents allowedAddresses}`, {"fragmentName":"ApiKeyColumns"}) as unknown as TypedDocumentString<ApiKeyColumnsFragment, unknown>;
export const KeyFieldsFragmentDoc = new TypedDocumentString(`fragment KeyFields on ApiKey{...ApiKeyColumns limits{chatPerMinute uploadPerMinute}usage{totalCalls callsToday callsThisMonth lastUsedAt}owner{id username status}createdById createdBy{id username}}fragment ApiKeyColumns on ApiKey{id name description keyPrefix createdAt expiresAt revokedAt lastUsedAt rotatedAt permissions isActive state pausedAt createdById ownerId allowedAgents allowedAddresses}`, {"fragmentName":"KeyFields"}) as unknown as TypedDocumentString<KeyFieldsFragment, unknown>;
export const AgentNumbersFragmentDoc = new TypedDocumentString(`fragment AgentNumbers on UsageGroup{agentId agent{name}totals{calls failedCalls firstChunkMs{p95}}}`, {"fragmentName":"AgentNumbers"}) as unknown as TypedDocumentString<AgentNumbersFragment, unknown>;
export const PercentilesFragmentDoc = new TypedDocumentString(`fragment Percentiles on Quantiles{p50 p95 p99}`, {"fragmentName":"Percentiles"}) as unknown as TypedDocumentString<PercentilesFragment, unknown>;
export const NumbersFragmentDoc = new TypedDocumentString(`fragment Numbers on UsageTotals{calls failedCalls totalTokens tokenCoverage firstChunkMs{...Percentiles}durationMs{...Percentiles}}fragment Percentiles on Quantiles{p50 p95 p99}`, {"fragmentName":"Numbers"}) as unknown as TypedDocumentString<NumbersFragment, unknown>;
export const QuotaLeftFragmentDoc = new TypedDocumentString(`fragment QuotaLeft on Quota{maxApiCalls apiCallsCount remaining quotaPeriod}`, {"fragmentName":"QuotaLeft"}) as unknown as TypedDocumentString<QuotaLeftFragment, unknown>;
export const PauseFieldsFragmentDoc = new TypedDocumentString(`fragment PauseFields on Pause{pauseId question options{optionId title}fields{name label type required options default}expiresAt}`, {"fragmentName":"PauseFields"}) as unknown as TypedDocumentString<PauseFieldsFragment, unknown>;
export const RefusalColumnsFragmentDoc = new TypedDocumentString(`fragment RefusalColumns on Refusal{id requestId at keyId ownerId keyPrefix face route agentId reason status limit field limitPoints limitWindowSeconds limitOf}`, {"fragmentName":"RefusalColumns"}) as unknown as TypedDocumentString<RefusalColumnsFragment, unknown>;
export const RefusalFieldsFragmentDoc = new TypedDocumentString(`fragment RefusalFields on Refusal{...RefusalColumns key{id name}owner{id username}agent{id name}}fragment RefusalColumns on Refusal{id requestId at keyId ownerId keyPrefix face route agentId reason status limit field limitPoints limitWindowSeconds limitOf}`, {"fragmentName":"RefusalFields"}) as unknown as TypedDocumentString<RefusalFieldsFragment, unknown>;
export const MetricPointFragmentDoc = new TypedDocumentString(`fragment MetricPoint on UsagePoint{start calls@include(if:$withCalls)failedCalls@include(if:$withCalls)totalTokens@include(if:$withTokens)firstChunkMs@include(if:$withFirstChunk){...Percentiles}durationMs@include(if:$withDuration){...Percentiles}}fragment Percentiles on Quantiles{p50 p95 p99}`, {"fragmentName":"MetricPoint"}) as unknown as TypedDocumentString<MetricPointFragment, unknown>;
export const GroupNameFragmentDoc = new TypedDocumentString(`fragment GroupName on UsageGroup{agentId agent{name}appId model keyId key{name keyPrefix}ownerId owner{username}endUser outcome}`, {"fragmentName":"GroupName"}) as unknown as TypedDocumentString<GroupNameFragment, unknown>;
export const UserColumnsFragmentDoc = new TypedDocumentString(`fragment UserColumns on User{id username role status createdAt updatedAt lastLogin apiCallsCount maxApiCalls}`, {"fragmentName":"UserColumns"}) as unknown as TypedDocumentString<UserColumnsFragment, unknown>;
export const GatewayProcessColumnsFragmentDoc = new TypedDocumentString(`fragment GatewayProcessColumns on GatewayProcess{id host pid port version build state startedAt lastSeenAt stoppedAt callsInFlight}`, {"fragmentName":"GatewayProcessColumns"}) as unknown as TypedDocumentString<GatewayProcessColumnsFragment, unknown>;
export const AgentChoicesDocument = new TypedDocumentString(`query AgentChoices{agents{id name requires apps{appId name}}}`, {"hash":"sha256:e2127ca3b5e87928be1cb4ea873b7194a90fda4e2460aa74e68c1dc4f0da688b"}) as unknown as TypedDocumentString<AgentChoicesQuery, AgentChoicesQueryVariables>;
export const KeyChoicesDocument = new TypedDocumentString(`query KeyChoices($after:String){apiKeys(first:100 after:$after){nodes{id name description keyPrefix}pageInfo{hasNextPage endCursor}}}`, {"hash":"sha256:d12654a42567a4fbdb6bd03fcf5828c9f2f8702a76873023a8d4ebea1b0db97e"}) as unknown as TypedDocumentString<KeyChoicesQuery, KeyChoicesQueryVariables>;
export const UserChoicesDocument = new TypedDocumentString(`query UserChoices($after:String){users(first:100 after:$after){nodes{id username}pageInfo{hasNextPage endCursor}}}`, {"hash":"sha256:cf209f128f5220c11dc1e985c1874b11a908383c6d321f527846c128f1ee00a0"}) as unknown as TypedDocumentString<UserChoicesQuery, UserChoicesQueryVariables>;
export const MatchesDocument = new TypedDocumentString(`query Matches($text:String!$seesUsers:Boolean!){apiKeys(search:$text first:6){nodes{...MatchedKey}}users(search:$text first:5)@include(if:$seesUsers){nodes{...MatchedUser}}}fragment MatchedKey on ApiKey{id name description keyPrefix state owner{id username status}}fragment MatchedUser on User{id username role}`, {"hash":"sha256:50e9ea0d190222535b789a810e394c1031d8f4ee30187cf4fc3527a68e60cba7"}) as unknown as TypedDocumentString<MatchesQuery, MatchesQueryVariables>;
export const MatchByIdDocument = new TypedDocumentString(`query MatchById($id:ID!){nodes(ids:[$id]){id ...on ApiKey{...MatchedKey}...on User{...MatchedUser}}}fragment MatchedKey on ApiKey{id name description keyPrefix state owner{id username status}}fragment MatchedUser on User{id username role}`, {"hash":"sha256:a13b678bc8668f1c934a37d78475017b4ccfa9774327cefe517feeca9ed8f300"}) as unknown as TypedDocumentString<MatchByIdQuery, MatchByIdQueryVariables>;
export const RequestsWithIdDocument = new TypedDocumentString(`query RequestsWithId($calls:CallFilter$refusals:RefusalFilter){calls(filter:$calls first:2){nodes{id}}refusals(filter:$refusals first:1){nodes{id}}}`, {"hash":"sha256:63afeabfac49900526f188142a7b97fa0ecca43445fc576d97032e9e18e746fd"}) as unknown as TypedDocumentString<RequestsWithIdQuery, RequestsWithIdQueryVariables>;
export const CallsOfConversationDocument = new TypedDocumentString(`query CallsOfConversation($filter:CallFilter){calls(filter:$filter first:1){nodes{id}}}`, {"hash":"sha256:c70006b1bf327e337321d7e1c1f2a71a79738f837b0a5592fd47de9faf59f54d"}) as unknown as TypedDocumentString<CallsOfConversationQuery, CallsOfConversationQueryVariables>;
export const CountedRefusalsDocument = new TypedDocumentString(`query CountedRefusals($filter:RefusalCountFilter!){refusalCounts(filter:$filter per:HOUR){count}}`, {"hash":"sha256:dc518dbe72e77dff804abf9862772ccac33dfc1a231ee6fd3252c3a6bf3aa5ea"}) as unknown as TypedDocumentString<CountedRefusalsQuery, CountedRefusalsQueryVariables>;
export const MeDocument = new TypedDocumentString(`query Me{me{id username role lastLogin quota{maxApiCalls apiCallsCount remaining quotaPeriod resetsAt}}}`, {"hash":"sha256:71d173cf33a190005a19ea59b80c6907f76a04146c44cf7e147ba1ebf046d17e"}) as unknown as TypedDocumentString<MeQuery, MeQueryVariables>;
export const AgentListDocument = new TypedDocumentString(`query AgentList{agents{id name platform description status statusSince statusReason requires features{stream detail files conversation usage stop}apps{appId name}sandbox deployments{deploymentId weight priority state disabled status statusSince statusReason probeMs breaker callsInFlight processes{instanceId host pid version breaker callsInFlight openSince reason}}}}`, {"hash":"sha256:e63abd972e039db1b2136e172e8b40ef3a07fcf9eb7ab436dbd856ceb23c21a5"}) as unknown as TypedDocumentString<AgentListQuery, AgentListQueryVariables>;
export const AgentUsageDocument = new TypedDocumentString(`query AgentUsage($from:DateTime!$to:DateTime!){usage(filter:{from:$from to:$to}granularity:HOUR groupBy:[AGENT]){from to groups(first:100){agentId totals{...Numbers}points{start calls failedCalls}}}}fragment Numbers on UsageTotals{calls failedCalls totalTokens tokenCoverage firstChunkMs{...Percentiles}durationMs{...Percentiles}}fragment Percentiles on Quantiles{p50 p95 p99}`, {"hash":"sha256:00982b78efd6f92e36dfd8d2341fd4e33ddc85d7d142b59f1838808d41930b01"}) as unknown as TypedDocumentString<AgentUsageQuery, AgentUsageQueryVariables>;
export const AuditEventsDocument = new TypedDocumentString(`query AuditEvents($filter:AuditFilter$first:Int=50$after:String){auditEvents(filter:$filter first:$first after:$after){nodes{...AuditFields}pageInfo{hasNextPage endCursor}}}fragment AuditFields on AuditEvent{...AuditEventColumns user{id username}key{id name}before after}fragment AuditEventColumns on AuditEvent{n format at operation result actor userId keyId tokenId name address requestId target targetId reason count hash}`, {"hash":"sha256:73f9ae7f44fa2befae2c760e0f30a087772392920eb261ec5727d8dc16503e60"}) as unknown as TypedDocumentString<AuditEventsQuery, AuditEventsQueryVariables>;
export const AuditTotalDocument = new TypedDocumentString(`query AuditTotal($filter:AuditFilter){auditEvents(filter:$filter first:1){totalCount}}`, {"hash":"sha256:6f0902f4ba2385527738ccba2a4113acd0f79ac8f73aab9a10f0bdd5ef76a8be"}) as unknown as TypedDocumentString<AuditTotalQuery, AuditTotalQueryVariables>;
export const AuditEventDocument = new TypedDocumentString(`query AuditEvent($n:SafeInt!){auditEvent(n:$n){...AuditFields}}fragment AuditFields on AuditEvent{...AuditEventColumns user{id username}key{id name}before after}fragment AuditEventColumns on AuditEvent{n format at operation result actor userId keyId tokenId name address requestId target targetId reason count hash}`, {"hash":"sha256:8780352954ce2fd8bc591c00a8b44a572586c7e0151f805d3599069d15876c8d"}) as unknown as TypedDocumentString<AuditEventQuery, AuditEventQueryVariables>;
export const CallsDocument = new TypedDocumentString(`query Calls($filter:CallFilter$first:Int=50$after:String){calls(filter:$filter first:$first after:$after){nodes{...CallFields}pageInfo{hasNextPage endCursor}}}fragment CallFields on Call{...CallColumns agent{id name}key{id name}owner{id username}}fragment CallColumns on Call{id requestId keyId ownerId endUser kind face agentId appId deployment model conversationId outcome reason attempts platformStatus platformCode platformLogId instanceId traceId promptTokens completionTokens totalTokens admittedAt queuedMs firstChunkMs durationMs endedAt replays paused answersId answeredById rating ratingText}`, {"hash":"sha256:b52734460490a67b81f2e90edd4ac1fd379474a947700712bda9dbab4dff14b2"}) as unknown as TypedDocumentString<CallsQuery, CallsQueryVariables>;
export const CallCountDocument = new TypedDocumentString(`query CallCount($filter:CallFilter){calls(filter:$filter first:1){totalCount}}`, {"hash":"sha256:6fa3b3b3575b5caec16de7d0430c48a68ed1d94ea21005644858398776783405"}) as unknown as TypedDocumentString<CallCountQuery, CallCountQueryVariables>;
export const CallDocument = new TypedDocumentString(`query Call($id:ID!){call(id:$id){...CallFields attemptList{deployment startMs durationMs outcome reason platformStatus}instance{host pid version}}}fragment CallFields on Call{...CallColumns agent{id name}key{id name}owner{id username}}fragment CallColumns on Call{id requestId keyId ownerId endUser kind face agentId appId deployment model conversationId outcome reason attempts platformStatus platformCode platformLogId instanceId traceId promptTokens completionTokens totalTokens admittedAt queuedMs firstChunkMs durationMs endedAt replays paused answersId answeredById rating ratingText}`, {"hash":"sha256:8a881f70e2564c053daabcfb1d3f425368bb9079c2adfc30b73aa1bebe07f034"}) as unknown as TypedDocumentString<CallQuery, CallQueryVariables>;
export const ConversationsDocument = new TypedDocumentString(`query Conversations($filter:ConversationFilter$first:Int$after:String){conversations(filter:$filter first:$first after:$after){nodes{...ConversationFields}pageInfo{hasNextPage endCursor}}}fragment ConversationFields on Conversation{...ConversationColumns agent{id name features{conversation conversations{delete}}}owner{id username}}fragment ConversationColumns on Conversation{id conversationId agentId appId ownerId endUser name createdAt lastActivityAt turns lastOutcome paused}`, {"hash":"sha256:4393df30c8330c2d5d93698e01e85e58172484fade1b01cee4634523ae4a472d"}) as unknown as TypedDocumentString<ConversationsQuery, ConversationsQueryVariables>;
export const ConversationCountDocument = new TypedDocumentString(`query ConversationCount($filter:ConversationFilter){conversations(filter:$filter first:1){totalCount}}`, {"hash":"sha256:cd90ef567f96349da8d2182ca7a46f9bf00ff9f8882e0948dcbcdb49b4259323"}) as unknown as TypedDocumentString<ConversationCountQuery, ConversationCountQueryVariables>;
export const ConversationDocument = new TypedDocumentString(`query Conversation($id:ID!){conversation(id:$id){...ConversationFields}}fragment ConversationFields on Conversation{...ConversationColumns agent{id name features{conversation conversations{delete}}}owner{id username}}fragment ConversationColumns on Conversation{id conversationId agentId appId ownerId endUser name createdAt lastActivityAt turns lastOutcome paused}`, {"hash":"sha256:8b24fb0e5983359bb76115d9b9954fac2c4dcdf67825915ef83afd2ec635e556"}) as unknown as TypedDocumentString<ConversationQuery, ConversationQueryVariables>;
export const ConversationMessagesDocument = new TypedDocumentString(`query ConversationMessages($id:ID!$last:Int$after:String){conversation(id:$id){messages(last:$last before:$after){isComplete nodes{messageId role text files{url name}createdAt callId rating}pageInfo{hasNextPage:hasPreviousPage endCursor:startCursor}}}}`, {"hash":"sha256:a706077a97f2784a6fe8b46cf487c7319841b88646a7229a5111e5081b3d1772"}) as unknown as TypedDocumentString<ConversationMessagesQuery, ConversationMessagesQueryVariables>;
export const KeysDocument = new TypedDocumentString(`query Keys($search:String$state:ApiKeyState$expiresBefore:DateTime$expiresWithin:String$unusedFor:String$ownerId:ID$orderBy:ApiKeyOrder$order:OrderDirection$first:Int$after:String){apiKeys(search:$search state:$state expiresBefore:$expiresBefore expiresWithin:$expiresWithin unusedFor:$unusedFor ownerId:$ownerId orderBy:$orderBy order:$order first:$first after:$after){nodes{...KeyFields}pageInfo{hasNextPage endCursor}}}fragment KeyFields on ApiKey{...ApiKeyColumns limits{chatPerMinute uploadPerMinute}usage{totalCalls callsToday callsThisMonth lastUsedAt}owner{id username status}createdById createdBy{id username}}fragment ApiKeyColumns on ApiKey{id name description keyPrefix createdAt expiresAt revokedAt lastUsedAt rotatedAt permissions isActive state pausedAt createdById ownerId allowedAgents allowedAddresses}`, {"hash":"sha256:bbc84e5172a8b4906a8ae626aebe0d9caa59d5ac94dc5205fb279763e798efc0"}) as unknown as TypedDocumentString<KeysQuery, KeysQueryVariables>;
export const KeyDocument = new TypedDocumentString(`query Key($id:ID!){apiKey(id:$id){...KeyFields secrets{keyPrefix lastUsedAt endsAt}rateLimits{chatPerMinute uploadPerMinute}owner{quota{apiCallsCount maxApiCalls quotaPeriod resetsAt}}}}fragment KeyFields on ApiKey{...ApiKeyColumns limits{chatPerMinute uploadPerMinute}usage{totalCalls callsToday callsThisMonth lastUsedAt}owner{id username status}createdById createdBy{id username}}fragment ApiKeyColumns on ApiKey{id name description keyPrefix createdAt expiresAt revokedAt lastUsedAt rotatedAt permissions isActive state pausedAt createdById ownerId allowedAgents allowedAddresses}`, {"hash":"sha256:f7b2ed6d4d7c4d34c8d5cb0dd2533d1a2aa3fdaa1875f9d265cad53dab56760b"}) as unknown as TypedDocumentString<KeyQuery, KeyQueryVariables>;
export const HealthUsersDocument = new TypedDocumentString(`query HealthUsers{users(quotaPercentMin:100 state:ACTIVE first:3){totalCount nodes{id username}}}`, {"hash":"sha256:d759e4d62b85e94ffa32c0bb44132dffa5a503bdd5690119a06a891cbb0ce85d"}) as unknown as TypedDocumentString<HealthUsersQuery, HealthUsersQueryVariables>;
export const HealthKeysDocument = new TypedDocumentString(`query HealthKeys{apiKeys(expiresWithin:"30d" orderBy:EXPIRES_AT first:100){nodes{id name description expiresAt}pageInfo{hasNextPage endCursor}}}`, {"hash":"sha256:3ab1b106cf01212cbbf6c89774e11d4380646f3935ea9cc676755f44c158c007"}) as unknown as TypedDocumentString<HealthKeysQuery, HealthKeysQueryVariables>;
export const HealthRefusalsDocument = new TypedDocumentString(`query HealthRefusals($from:DateTime!){refusalCounts(filter:{from:$from}per:DAY){keyId key{id name}limit count}}`, {"hash":"sha256:078c445721e6b730a316778ec250dda14ead473cf3ca45d47a89f7e4cc60fca9"}) as unknown as TypedDocumentString<HealthRefusalsQuery, HealthRefusalsQueryVariables>;
export const HealthProcessesDocument = new TypedDocumentString(`query HealthProcesses{gatewayProcesses{id host pid port version state startedAt lastSeenAt concerns{concern cause blockedBy}}}`, {"hash":"sha256:42dc43ba11762680ec37e591a61e67e8a7d9a2f45b371f56d3e49deda4e58883"}) as unknown as TypedDocumentString<HealthProcessesQuery, HealthProcessesQueryVariables>;
export const OverviewDocument = new TypedDocumentString(`query Overview($from:DateTime!$granularity:UsageGranularity!$timezone:String!){usage(filter:{from:$from}granularity:$granularity groupBy:[AGENT]timezone:$timezone){from to granularity timezone totals{...Numbers ratedUp ratedDown}points{start calls failedCalls firstChunkMs{...Percentiles}durationMs{...Percentiles}}groups(first:100){...AgentNumbers}quota{...QuotaLeft}}}fragment AgentNumbers on UsageGroup{agentId agent{name}totals{calls failedCalls firstChunkMs{p95}}}fragment Numbers on UsageTotals{calls failedCalls totalTokens tokenCoverage firstChunkMs{...Percentiles}durationMs{...Percentiles}}fragment Percentiles on Quantiles{p50 p95 p99}fragment QuotaLeft on Quota{maxApiCalls apiCallsCount remaining quotaPeriod}`, {"hash":"sha256:77a2ba6409be7af23da12e7b6eff46452b325e5a532d9e5f1dc241578b84d0d9"}) as unknown as TypedDocumentString<OverviewQuery, OverviewQueryVariables>;
export const OverviewBeforeDocument = new TypedDocumentString(`query OverviewBefore($from:DateTime!$to:DateTime!$granularity:UsageGranularity!$timezone:String!){usage(filter:{from:$from to:$to}granularity:$granularity groupBy:[AGENT]timezone:$timezone){from to totals{...Numbers}groups(first:100){...AgentNumbers}}}fragment AgentNumbers on UsageGroup{agentId agent{name}totals{calls failedCalls firstChunkMs{p95}}}fragment Numbers on UsageTotals{calls failedCalls totalTokens tokenCoverage firstChunkMs{...Percentiles}durationMs{...Percentiles}}fragment Percentiles on Quantiles{p50 p95 p99}`, {"hash":"sha256:9d7986bac2c28291d9234fc47ad34c4181ee5e28b6ba9e3c9c31036981aecaa9"}) as unknown as TypedDocumentString<OverviewBeforeQuery, OverviewBeforeQueryVariables>;
export const OverviewAgentsDocument = new TypedDocumentString(`query OverviewAgents{agents{id name status statusReason statusSince}}`, {"hash":"sha256:66c993ada88989a539170ad8fa578ceda16d5ae2d5a791588beaafdbfdbbdb24"}) as unknown as TypedDocumentString<OverviewAgentsQuery, OverviewAgentsQueryVariables>;
export const FirstStepsDocument = new TypedDocumentString(`query FirstSteps{apiKeys(first:1){totalCount}calls(first:1){nodes{id}}}`, {"hash":"sha256:eb3025d9d8466405e8042a74267eb4d21844a074107509c67e4e8348ffd1dd55"}) as unknown as TypedDocumentString<FirstStepsQuery, FirstStepsQueryVariables>;
export const UsageUpdatedDocument = new TypedDocumentString(`subscription UsageUpdated{usageUpdated{day totals{calls failedCalls totalTokens}quota{...QuotaLeft}}}fragment QuotaLeft on Quota{maxApiCalls apiCallsCount remaining quotaPeriod}`, {"hash":"sha256:8c50991816bbb0bba85b2f6b43f899625bbe84bbd90a54a880b0f5c92c4dfe8c"}) as unknown as TypedDocumentString<UsageUpdatedSubscription, UsageUpdatedSubscriptionVariables>;
export const ChatConversationDocument = new TypedDocumentString(`query ChatConversation($filter:ConversationFilter!){conversations(filter:$filter first:1){nodes{id pause{...PauseFields}}}}fragment PauseFields on Pause{pauseId question options{optionId title}fields{name label type required options default}expiresAt}`, {"hash":"sha256:26f03b3f2a2064ba79debee2543299332604dbaba650f46c95cc3e150023285c"}) as unknown as TypedDocumentString<ChatConversationQuery, ChatConversationQueryVariables>;
export const ProcessesDocument = new TypedDocumentString(`query Processes{gatewayProcesses{...GatewayProcessColumns breakers{agentId deploymentId breaker openSince reason}configuration{state since needsRestart error}concerns{concern cause since count blockedBy}}}fragment GatewayProcessColumns on GatewayProcess{id host pid port version build state startedAt lastSeenAt stoppedAt callsInFlight}`, {"hash":"sha256:36235a23c19f624b0d095409e148958a1e8ba0a0dd744c906fd8d3ac683e97e6"}) as unknown as TypedDocumentString<ProcessesQuery, ProcessesQueryVariables>;
export const RefusalsDocument = new TypedDocumentString(`query Refusals($filter:RefusalFilter$first:Int=50$after:String){refusals(filter:$filter first:$first after:$after){nodes{...RefusalFields}pageInfo{hasNextPage endCursor}}}fragment RefusalFields on Refusal{...RefusalColumns key{id name}owner{id username}agent{id name}}fragment RefusalColumns on Refusal{id requestId at keyId ownerId keyPrefix face route agentId reason status limit field limitPoints limitWindowSeconds limitOf}`, {"hash":"sha256:436fdcf8cf6640d28817a3dfdf0ed1b8d0d53c7d6077211eefaa07257c681c4e"}) as unknown as TypedDocumentString<RefusalsQuery, RefusalsQueryVariables>;
export const RefusalTotalDocument = new TypedDocumentString(`query RefusalTotal($filter:RefusalFilter){refusals(filter:$filter first:1){totalCount}}`, {"hash":"sha256:c57770d95b1926bda80008aaf0ce9f237a548cfc4da1dd7ea880ef29832ae26f"}) as unknown as TypedDocumentString<RefusalTotalQuery, RefusalTotalQueryVariables>;
export const RefusalCountsDocument = new TypedDocumentString(`query RefusalCounts($filter:RefusalCountFilter$per:RefusalCountSpan!$timezone:String!){refusalCounts(filter:$filter per:$per timezone:$timezone){start keyId key{id name}ownerId owner{id username}agentId reason limit count}}`, {"hash":"sha256:37c220b2f3d7ce2598c77e366cf8c59f50718cd05d2399714eadf493c4c38410"}) as unknown as TypedDocumentString<RefusalCountsQuery, RefusalCountsQueryVariables>;
export const UsageReportDocument = new TypedDocumentString(`query UsageReport($filter:UsageFilter!$granularity:UsageGranularity!$groupBy:[UsageGroupBy!]!$timezone:String!$orderBy:UsageGroupOrder!$compare:Boolean!$compareFrom:DateTime$compareTo:DateTime$isGrouped:Boolean!$withCalls:Boolean!$withTokens:Boolean!$withFirstChunk:Boolean!$withDuration:Boolean!){usage(filter:$filter granularity:$granularity groupBy:$groupBy timezone:$timezone compareFrom:$compareFrom compareTo:$compareTo){from to granularity timezone groupBy groupCount totals{...Numbers}points{...MetricPoint}previous@include(if:$compare){from to totals{...Numbers}points{...MetricPoint}}drawn:groups(first:7 orderBy:$orderBy)@include(if:$isGrouped){...GroupName points{...MetricPoint}}groups(first:100 orderBy:$orderBy)@include(if:$isGrouped){...GroupName totals{...Numbers}previousTotals@include(if:$compare){...Numbers}}...@include(if:$compare){missingGroups(first:100 orderBy:$orderBy)@include(if:$isGrouped){...GroupName totals{...Numbers}previousTotals{...Numbers}}}}}fragment Numbers on UsageTotals{calls failedCalls totalTokens tokenCoverage firstChunkMs{...Percentiles}durationMs{...Percentiles}}fragment Percentiles on Quantiles{p50 p95 p99}fragment MetricPoint on UsagePoint{start calls@include(if:$withCalls)failedCalls@include(if:$withCalls)totalTokens@include(if:$withTokens)firstChunkMs@include(if:$withFirstChunk){...Percentiles}durationMs@include(if:$withDuration){...Percentiles}}fragment GroupName on UsageGroup{agentId agent{name}appId model keyId key{name keyPrefix}ownerId owner{username}endUser outcome}`, {"hash":"sha256:1d90dcb2d905fc73d6c83d9df1432e177db434f5b0062d93ebbd33f33a3325a4"}) as unknown as TypedDocumentString<UsageReportQuery, UsageReportQueryVariables>;
export const UserPageDocument = new TypedDocumentString(`query UserPage($id:ID!){user(id:$id){...UserColumns quotaPeriod quota{resetsAt}apiKeys(first:1){totalCount}}}fragment UserColumns on User{id username role status createdAt updatedAt lastLogin apiCallsCount maxApiCalls}`, {"hash":"sha256:2662928e89868d35736ea4a9c6b49b866c6ac6ae4f63ec4e88ee5a84081290e6"}) as unknown as TypedDocumentString<UserPageQuery, UserPageQueryVariables>;
export const UserListDocument = new TypedDocumentString(`query UserList($search:String$state:UserStatus$role:Role$quotaPercentMin:Int$orderBy:UserOrder$order:OrderDirection$first:Int$after:String){users(search:$search state:$state role:$role quotaPercentMin:$quotaPercentMin orderBy:$orderBy order:$order first:$first after:$after){nodes{...UserColumns quotaPeriod}pageInfo{hasNextPage endCursor}}}fragment UserColumns on User{id username role status createdAt updatedAt lastLogin apiCallsCount maxApiCalls}`, {"hash":"sha256:17fb7a67bf2a41faaef6e1b1bf3f05a785a9ede8454179f8daa05125c9c49038"}) as unknown as TypedDocumentString<UserListQuery, UserListQueryVariables>;
export const UserTotalDocument = new TypedDocumentString(`query UserTotal($search:String$state:UserStatus$role:Role$quotaPercentMin:Int){users(search:$search state:$state role:$role quotaPercentMin:$quotaPercentMin){totalCount}}`, {"hash":"sha256:f1cc1a617a6b015945acf1c2ccaf3c3fd5676d986cbeb73d2f4532af0814d5be"}) as unknown as TypedDocumentString<UserTotalQuery, UserTotalQueryVariables>;