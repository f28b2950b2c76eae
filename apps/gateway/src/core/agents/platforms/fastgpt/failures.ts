import type { HeaderReader } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { EarlyRefusals } from '#core/agents/translate/early-refusals.ts'
import { failureOf, reasonOfStatus, refusalReader, statusOfError } from '#core/agents/translate/failure.ts'
import { messageIn } from '#core/agents/translate/refusals/error-words.ts'
import { type JsonObject, textOf } from '#core/base/values/json.ts'
import type { ErrorReason } from '#core/errors/errors.ts'

interface FastGptReply {
  readonly status?: number
  readonly header?: HeaderReader
  /** Whether nothing came before the error. */
  readonly isFirst: boolean
}

/**
 * The body takes precedence over the status, because releases differ: the same error came with 200, 500 or
 * its own.
 */
export function fastgptFailure(body: JsonObject, { isFirst, ...reply }: FastGptReply): Failure {
  const { code, statusText } = body
  // The message is often an i18n key.
  const message = messageIn(body.message) ?? ''
  const reason =
    REASON_BY_CODE.get(code) ??
    REASON_BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ??
    reasonOfStatus(statusOfError(code, undefined) ?? reply.status ?? 500)
  const turn = isFirst ? EARLY.turnOf({ code, message }) : undefined
  return failureOf(reason, { ...reply, code: textOf(statusText) ?? code, message, turn })
}

/** Maps a reply with status ≥ 400. */
export const fastgptRefusal = refusalReader((error, reply) =>
  fastgptFailure(error, { ...reply, isFirst: true }),
)

/** FastGPT checks key, app, limit and chat before it runs the app, and stores the question after that. */
const EARLY = new EarlyRefusals([
  { code: 514 },
  { code: 504000 },
  // The whole text, because a model's provider may begin in the same way.
  { code: 429, text: /^Rate limit exceeded\. Maximum \d+ requests per \d+ seconds for this team\./ },
  { text: /^app is empty/ },
  { text: /^Key is error/ },
])

const REASON_BY_CODE: ReadonlyMap<unknown, ErrorReason> = new Map([
  [403, 'agent_credentials'],
  [514, 'agent_credentials'],
  [510, 'agent_quota'],
  [500004, 'agent_quota'],
  [506002, 'agent_quota'],
  [511, 'agent_misconfigured'],
  [513, 'agent_misconfigured'],
  [500001, 'agent_misconfigured'],
  [500003, 'agent_misconfigured'],
  [502001, 'agent_misconfigured'],
  [502000, 'app_not_found'],
  [504000, 'conversation_not_found'],
  [409, 'conversation_busy'],
])

/** Errors that have no code. */
const REASON_BY_TEXT: readonly (readonly [RegExp, ErrorReason])[] = [
  [/^Rate limit exceeded/, 'agent_rate_limited'],
  [/^Your content is not compliant/, 'content_filtered'],
  [/^app is empty/, 'app_not_found'],
  // An `appId` that is not an ObjectId.
  [/^Cast to ObjectId failed/, 'app_not_found'],
  // A team's key without `appId`.
  [/^Key is error/, 'agent_rejected_input'],
  [/^Url is invalid/, 'agent_rejected_input'],
  // Of an answer that is rated.
  [/^Chat item not found/, 'conversation_not_found'],
  [/^(?:messages is empty|messages is not array|User question is empty)/, 'agent_rejected_input'],
]
