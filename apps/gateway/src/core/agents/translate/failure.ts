import type { Adapter, HeaderReader } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import { isObject, type JsonObject } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { cleanMessage } from './clean-message.ts'
import { reasonInWords } from './refusals/whose-fault.ts'
import { retryHint } from './retry-hint.ts'

interface FailureFacts {
  readonly status?: number | undefined
  readonly code?: unknown
  readonly logId?: unknown
  readonly message?: unknown
  /** The platform's error, if it may say beside its text how long to wait. */
  readonly error?: JsonObject | undefined
  readonly header?: HeaderReader | undefined
  readonly turn?: Failure['turn'] | undefined
}

/**
 * For these reasons the platform's text helps the caller; for others it may reveal keys, hosts and prompts.
 */
const REASONS_WITH_MESSAGE: ReadonlySet<ErrorReason> = new Set(['agent_rejected_input', 'content_filtered'])

/** Creates a failure with the facts for ledger and log, and a sanitized message if that helps the caller. */
export function failureOf(reason: ErrorReason, facts: FailureFacts = {}): Failure {
  const { status, code, logId, message, turn } = facts
  return omitUndefined({
    reason,
    message:
      REASONS_WITH_MESSAGE.has(reason) && typeof message === 'string' ? cleanMessage(message) : undefined,
    retryAfterSeconds: reason === 'agent_rate_limited' ? retryAfterSeconds(facts) : undefined,
    turn,
    platformStatus: status,
    platformCode: label(code),
    platformLogId: label(logId),
  })
}

export function errorEvents(failure: Failure): readonly ChatEvent[] {
  return [{ type: 'error', failure }]
}

export const MALFORMED = errorEvents({ reason: 'agent_malformed' })

/** The usual meaning of a status, for replies that carry no more precise error. */
export function reasonOfStatus(status: number): ErrorReason {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return 'agent_rejected_input'
    case 401:
      return 'agent_credentials'
    case 402:
      return 'agent_quota'
    case 403:
    case 404:
    case 405:
      return 'agent_misconfigured'
    case 429:
      return 'agent_rate_limited'
    default:
      return 'agent_error'
  }
}

/**
 * The status that an error has: that of the response if it is one of an error, else the one in the error's code, which errors
 * within a stream have alone.
 */
export function statusOfError(code: unknown, status: number | undefined): number | undefined {
  if (status !== undefined && status >= 400) return status
  const told = typeof code === 'number' || typeof code === 'string' ? Number(code) : Number.NaN
  return told >= 400 && told < 600 ? told : status
}

/** Whether a body is a web page, as proxies send it in place of the platform's API. */
export function isPage(body: unknown): boolean {
  return typeof body === 'string' && body.trimStart().startsWith('<')
}

/** Statuses with one meaning, whether a platform or a proxy sends them, with a text or with an empty body. */
const PLAIN_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 413, 429])

/**
 * Makes the reader of replies with an error status.
 *
 * @param ofJson - maps the JSON with which the platform's API refuses a request; some servers send it in a list
 */
export function refusalReader(
  ofJson: (error: JsonObject, reply: { status: number; header: HeaderReader }) => Failure,
): Adapter['toFailure'] {
  return (status, body, header) => {
    const error = [body].flat().find(isObject)
    return error === undefined ? failureOfText(status, body, header) : ofJson(error, { status, header })
  }
}

/**
 * Maps an error reply that is no JSON of an API. A page usually comes from a proxy, whose status says little about the platform:
 * only 413 and 429 are taken at their word. Some platforms refuse credentials, models and wrong addresses with a plain text, or
 * with nothing; what a text says decides first.
 */
function failureOfText(status: number, body: unknown, header: HeaderReader): Failure {
  const isKnown = isPage(body) ? status === 413 || status === 429 : PLAIN_STATUSES.has(status)
  const said = isPage(body) ? undefined : reasonInWords(body, status)
  const reason = said ?? (isKnown ? reasonOfStatus(status) : 'agent_error')
  const message = reason === 'agent_rate_limited' ? body : undefined
  return { ...failureOf(reason, { status, header, message }), isPage: true }
}

/**
 * Maps a body with status 2xx that is not a JSON object: a web page in place of the API, or truncated JSON.
 */
export function unreadableBody(body: unknown): readonly ChatEvent[] {
  return isPage(body) ? errorEvents({ reason: 'agent_error', isPage: true }) : MALFORMED
}

function label(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  // PostgreSQL stores neither NUL nor lone surrogates.
  return typeof text === 'string' && text !== ''
    ? text
        .slice(0, 128)
        .toWellFormed()
        .replace(/\p{Cc}/gu, ' ')
    : undefined
}

/** Whole seconds, within the bounds that clients honor. */
function retryAfterSeconds(facts: FailureFacts): number | undefined {
  const seconds = retryHint(facts)
  return seconds === undefined
    ? undefined
    : Math.min(Math.max(Math.ceil(seconds), 1), RETRY_AFTER_SECONDS_MAX)
}

/**
 * Common clients (openai 4 and 5, the AI SDK) honor only values below 60 and retry almost at once otherwise.
 */
const RETRY_AFTER_SECONDS_MAX = 59
