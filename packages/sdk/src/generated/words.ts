// Generated from schema.graphql and openapi.json by `pnpm contract`. Do not edit.
/** The kind of a file that an agent has made. */
export type ChatFileType = 'image' | 'document' | 'audio' | 'video'
/** Why a reply ended. */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls'
/** The length of the buckets of a report. */
export type UsageGranularity = 'hour' | 'day' | 'month'
/** A property by which calls are grouped. */
export type UsageGroupBy = 'key' | 'agent' | 'app' | 'model' | 'user' | 'end_user' | 'outcome' | 'conversation'
/** Whether a user may use the gateway. */
export type UserStatus = 'active' | 'suspended'
/** What a user may do. */
export type Role = 'admin' | 'premium' | 'user'
/** What a list of users can be ordered by. */
export type UserOrder = 'created_at' | 'username' | 'last_login' | 'api_calls_count' | 'quota_used'
/** The direction of an order. */
export type OrderDirection = 'asc' | 'desc'
/** Whether an API key can be used, and why not. */
export type ApiKeyState = 'active' | 'paused' | 'expired' | 'revoked'
/** What a list of API keys can be ordered by. */
export type ApiKeyOrder = 'created_at' | 'name' | 'last_used_at' | 'expires_at' | 'calls_today' | 'calls_this_month' | 'total_calls'
/** The length of the buckets in which refused requests are counted. */
export type RefusalCountSpan = 'minute' | 'hour' | 'day'
/** Whether a process of the gateway lives. */
export type GatewayProcessState = 'live' | 'stopped' | 'lost'
/** Whether the gateway sends calls to a deployment, after what earlier calls met there. */
export type BreakerState = 'closed' | 'half_open' | 'open'
/** Whether a process serves the configuration that was loaded last. */
export type ProcessConfigurationState = 'current' | 'pending' | 'different'
/** What is wrong with a process of the gateway. */
export type GatewayProcessConcernKind = 'ledger_behind' | 'disk_full' | 'unavailable'
/** Which processes of the gateway to list. */
export type GatewayProcessFilter = 'live' | 'ended'
/** How often the calls of a user are counted from zero. */
export type QuotaPeriod = 'none' | 'day' | 'month'
/** What an API key may be used for. */
export type Permission = 'chat' | 'upload' | 'admin'
/** Whether a call still runs, or how it ended, in filters. */
export type CallState = 'done' | 'client_gone' | 'upstream_error' | 'timeout' | 'drained' | 'interrupted' | 'rejected' | 'running' | 'failed'
/** One of the call counters of an API key, in its `usage`. */
export type ApiKeyCounter = 'day' | 'month' | 'total'
/** Whether calls can be served, as probes and calls of the last seconds showed. */
export type AgentStatus = 'available' | 'degraded' | 'unavailable'
/** What a call did. */
export type CallKind = 'chat' | 'upload' | (string & {})
/** The interface through which a call came. */
export type CallFace = 'rest' | 'openai' | 'graphql' | 'responses' | (string & {})
/** How a call ended. */
export type CallOutcome = 'done' | 'client_gone' | 'upstream_error' | 'timeout' | 'drained' | 'interrupted' | 'rejected' | (string & {})
/** What a user thinks of an answer. */
export type Rating = 'up' | 'down'
/** Who said a message. */
export type MessageRole = 'user' | 'assistant'
/** Whether the platform has it as well. If that has failed, nothing is lost here. */
export type PassedOn = 'yes' | 'failed' | 'unsupported'
/** Whether the platform has deleted it, too. */
export type ConversationAtPlatform = 'deleted' | 'unsupported'
/** What came of the operation that an event of the audit log records. */
export type AuditResult = 'done' | 'refused' | 'failed' | (string & {})
