import type { HeaderReader } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { failureOf, reasonOfStatus } from '#core/agents/translate/failure.ts'
import type { ErrorReason } from '#core/errors.ts'
import { countOf, type JsonObject, objectOf, textOf } from '#core/values/json.ts'

/**
 * Maps an error body or an `error` event. The text takes precedence over the code, because Dify reports every
 * Python `ValueError` as `invalid_param`.
 */
export function difyFailure(
  body: JsonObject,
  reply: { status?: number; header?: HeaderReader } = {},
): Failure {
  const code = textOf(body.code)
  const status = reply.status ?? countOf(body.status)
  // The validators of Dify 1.8–1.10 send no code, and one text per field.
  const message = textOf(Object.values(objectOf(body.errors))[0]) ?? textOf(body.message) ?? ''
  const reason =
    REASON_BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ??
    REASON_BY_CODE.get(code) ??
    reasonOfStatus(status ?? 500)
  return failureOf(reason, { ...reply, status, code, message })
}

const REASON_BY_TEXT: readonly (readonly [RegExp, ErrorReason])[] = [
  // The model provider's moderation, which may fail different parts of a run.
  [/content_filter|content management policy/i, 'content_filtered'],
  [/^Too many requests/, 'agent_rate_limited'],
  // The model provider failed, although Dify reports it as a client error.
  [/^Run failed/, 'agent_error'],
  // Only a prefix is compared, because flask-restx appends suggestions of other URLs.
  [/^Conversation not exists/i, 'conversation_not_found'],
]

const REASON_BY_CODE: ReadonlyMap<unknown, ErrorReason> = new Map([
  ['unauthorized', 'agent_credentials'],
  ['forbidden', 'agent_misconfigured'],
  // In current releases only a pinned workflow that does not exist.
  ['not_found', 'agent_misconfigured'],
  ['not_chat_app', 'agent_misconfigured'],
  ['not_completion_app', 'agent_misconfigured'],
  ['not_workflow_app', 'agent_misconfigured'],
  ['app_unavailable', 'agent_misconfigured'],
  ['agent_not_published', 'agent_misconfigured'],
  ['provider_not_initialize', 'agent_misconfigured'],
  ['model_currently_not_support', 'agent_misconfigured'],
  ['provider_quota_exceeded', 'agent_quota'],
  ['completion_request_error', 'agent_error'],
  ['internal_server_error', 'agent_error'],
  ['invalid_param', 'agent_rejected_input'],
  ['bad_request', 'agent_rejected_input'],
  ['file_too_large', 'agent_rejected_input'],
  ['unsupported_file_type', 'agent_rejected_input'],
  // The conversation never accepts messages again; `conversation_busy` would invite clients to retry.
  ['conversation_completed', 'conversation_not_found'],
  ['too_many_requests', 'agent_rate_limited'],
  ['rate_limit_error', 'agent_rate_limited'],
])
