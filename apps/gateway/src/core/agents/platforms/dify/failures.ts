import type { HeaderReader } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { EarlyRefusals } from '#core/agents/translate/early-refusals.ts'
import { failureOf, reasonOfStatus, refusalReader, statusOfError } from '#core/agents/translate/failure.ts'
import { messageIn } from '#core/agents/translate/refusals/error-words.ts'
import { reasonOfRun } from '#core/agents/translate/refusals/whose-fault.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import { countOf, type JsonObject, objectOf, textOf } from '#core/base/values/json.ts'

/**
 * Maps an error body, of which `reply` is known, or an `error` event, before which Dify has stored the message. The text takes
 * precedence over the code, because Dify reports every Python `ValueError` as `invalid_param`.
 */
export function difyFailure(
  body: JsonObject,
  reply: { status?: number; header?: HeaderReader } = {},
): Failure {
  const code = textOf(body.code)
  const status = reply.status ?? countOf(body.status)
  // The validators of Dify 1.8–1.10 send no code, and one text per field.
  const message = textOf(Object.values(objectOf(body.errors))[0]) ?? messageIn(body.message) ?? ''
  const reason =
    REASON_BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ??
    (isOfRun(message, code) ? reasonOfProvider(message) : undefined) ??
    REASON_BY_CODE.get(code) ??
    reasonOfStatus(statusOfError(body.code, status) ?? 500)
  const turn = reply.status === undefined ? undefined : EARLY.turnOf({ status, code, message })
  return failureOf(reason, { ...reply, status, code, message, turn })
}

/** The failure of a run whose end says what went wrong, which since Dify 1.12 no `error` event repeats. */
export function runFailure(error: string | undefined): Failure {
  const message = error ?? ''
  const ofText = REASON_BY_TEXT.find(([pattern]) => pattern.test(message))?.[1]
  const isOfProvider = ofText === 'content_filtered' || ofText === 'agent_rate_limited'
  const reason = isOfProvider ? ofText : reasonOfProvider(message)
  return failureOf(reason, { code: 'workflow_failed', message })
}

/** The class that Dify's plugins put before the text of a model's provider: `[openai] Rate Limit Error, …` also for a used-up quota. */
const PLUGIN_PREFIX = /^(?:Run failed: )?\[[^\]]{1,100}\] [A-Za-z ]{1,40} Error, /

/** The provider's own words within an error that Python has printed. */
const PROVIDER_MESSAGE = /['"]message['"]: ['"](.{1,500})/

/** Looks at the provider's own words first, since what stands around them is less precise. */
function reasonOfProvider(message: string): ErrorReason {
  return (
    reasonOfRun(PROVIDER_MESSAGE.exec(message)?.[1]) ??
    reasonOfRun(message.replace(PLUGIN_PREFIX, '')) ??
    reasonOfRun(message) ??
    'agent_error'
  )
}

/** Whether an error is one of the model's provider, although Dify reports it as a client error. */
function isOfRun(message: string, code: string | undefined): boolean {
  return /^Run failed/.test(message) || code === 'completion_request_error'
}

/** Maps a reply with status ≥ 400. */
export const difyRefusal = refusalReader(difyFailure)

/** The whole text, because a model's provider may begin in the same way. */
const CONCURRENCY_LIMIT =
  /^Too many requests\. Please try again later\. The current maximum concurrent requests allowed/

/** Dify stores the message after it has checked key, app, limit, conversation and files, and answers with a stream from then on. */
const EARLY = new EarlyRefusals([
  { status: 401, code: 'unauthorized' },
  { status: 403, code: 'forbidden' },
  { status: 400, code: 'not_chat_app' },
  { status: 400, code: 'app_unavailable' },
  { status: 429, text: CONCURRENCY_LIMIT },
  { status: 400, text: CONCURRENCY_LIMIT },
  { status: 404, text: /^Conversation Not Exists/ },
  { status: 400, text: /^Arg user must be provided/ },
  { status: 400, text: /^\S+ is not a valid uuid/ },
  { status: 400, text: /^1 validation error for ChatRequestPayload/ },
  { status: 400, text: /^Agent Chat App does not support blocking mode/ },
  { status: 400, text: /^Invalid upload file/ },
])

const REASON_BY_TEXT: readonly (readonly [RegExp, ErrorReason])[] = [
  // The model provider's moderation, which may fail different parts of a run.
  [/content_filter|content management policy/i, 'content_filtered'],
  [/^Too many requests/, 'agent_rate_limited'],
  // Only a prefix is compared, because flask-restx appends suggestions of other URLs.
  [/^Conversation not exists/i, 'conversation_not_found'],
  // Of a message that is rated.
  [/^Message not exists/i, 'conversation_not_found'],
  // Of the cursor of a page.
  [/^First Message not exists/i, 'agent_rejected_input'],
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
