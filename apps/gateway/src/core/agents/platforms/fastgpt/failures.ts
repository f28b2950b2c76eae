import type { HeaderReader } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { EarlyRefusals } from '#core/agents/translate/early-refusals.ts'
import { failureOf, reasonOfStatus, refusalReader, statusOfError } from '#core/agents/translate/failure.ts'
import { messageIn } from '#core/agents/translate/refusals/error-words.ts'
import { reasonOfRun } from '#core/agents/translate/refusals/whose-fault.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import { type JsonObject, textOf } from '#core/base/values/json.ts'

interface FastGptReply {
  readonly status?: number
  readonly header?: HeaderReader
  /** Whether nothing came before the error. */
  readonly isFirst: boolean
}

/**
 * The body takes precedence over the status, because releases differ: the same error came with 200, 500 or
 * its own. The word in it (`statusText`) takes precedence over its code: codes above a thousand are positions in a list, and a release
 * that inserts one moves all that follow.
 */
export function fastgptFailure(body: JsonObject, { isFirst, ...reply }: FastGptReply): Failure {
  // Some releases have the word in place of a message, which otherwise is often an i18n key.
  const message = messageIn(body.message) ?? ''
  const word = [body.statusText, message].find((each) => REASON_BY_WORD.has(each)) ?? wordOf(body)
  const isPosition = typeof body.code === 'number' && body.code >= 1_000
  const code = isPosition && word !== undefined ? undefined : body.code
  const reason =
    REASON_BY_WORD.get(word) ??
    REASON_BY_CODE.get(code) ??
    REASON_BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ??
    reasonOfRun(message) ??
    reasonOfStatus(statusOfError(code, undefined) ?? reply.status ?? 500)
  const turn = isFirst ? EARLY.turnOf({ code: word ?? code, message }) : undefined
  return failureOf(reason, { ...reply, code: word ?? body.code, message, turn })
}

/** Some releases have this word beside every error. */
function wordOf({ statusText }: JsonObject): string | undefined {
  return statusText === 'error' ? undefined : textOf(statusText)
}

/** The failure of a run of which a node has failed, by what that node says. */
export function nodeFailure(error: unknown, code?: string): Failure {
  return failureOf(reasonOfRun(error) ?? 'agent_error', { code, message: messageIn(error) })
}

/** Maps a reply with status ≥ 400. */
export const fastgptRefusal = refusalReader((error, reply) =>
  fastgptFailure(error, { ...reply, isFirst: true }),
)

/** FastGPT checks key, app, limit, points and chat before it runs the app, and stores the question after that. */
const EARLY = new EarlyRefusals([
  { code: 'unAuthApiKey' },
  { code: 'unAuthChat' },
  { code: 'chatIsGenerating' },
  { code: 'aiPointsNotEnough' },
  // The whole text, because a model's provider may begin in the same way.
  { code: 429, text: /^Rate limit exceeded\. Maximum \d+ requests per \d+ seconds for this team\./ },
  { text: /^app is empty/ },
  { text: /^Key is error/ },
])

/** By the words of the vendor's own table of errors (4.8 to 4.18). */
const REASON_BY_WORD: ReadonlyMap<unknown, ErrorReason> = new Map([
  ['chatIsGenerating', 'conversation_busy'],
  ['aiPointsNotEnough', 'agent_quota'],
  ['reRankNotEnough', 'agent_quota'],
  ['insufficientQuota', 'agent_quota'],
  ['openapiExceedLimit', 'agent_quota'],
  ['unAuthTeam', 'agent_misconfigured'],
  ['unPermission', 'agent_misconfigured'],
  ['unAuthApp', 'agent_misconfigured'],
  ['unAuthModel', 'agent_misconfigured'],
  ['unAuthFile', 'agent_misconfigured'],
  ['teamOverSize', 'agent_misconfigured'],
  ['userNotActive', 'agent_misconfigured'],
  ['accountCancellationPending', 'agent_misconfigured'],
  ['modelUnExist', 'agent_misconfigured'],
  ['pluginUnExist', 'agent_misconfigured'],
  ['pluginUnAuth', 'agent_misconfigured'],
  ['sandboxNotSupport', 'agent_misconfigured'],
  ['openapiUnExist', 'agent_credentials'],
  ['openapiUnAuth', 'agent_credentials'],
  ['unAuthApiKey', 'agent_credentials'],
  ['unAuthorization', 'agent_credentials'],
  ['appUnExist', 'app_not_found'],
  ['unAuthChat', 'conversation_not_found'],
  ['invalidParams', 'agent_rejected_input'],
  ['missingParams', 'agent_rejected_input'],
  // It is ready a little later.
  ['agentSandboxInitializing', 'agent_rate_limited'],
])

/** Where no word stands beside the code. */
const REASON_BY_CODE: ReadonlyMap<unknown, ErrorReason> = new Map([
  [403, 'agent_credentials'],
  [409, 'conversation_busy'],
  [510, 'agent_quota'],
  [511, 'agent_misconfigured'],
  [513, 'agent_misconfigured'],
  [514, 'agent_credentials'],
  // As they were in 4.11 to 4.14.
  [500004, 'agent_quota'],
  [506002, 'agent_quota'],
  [500001, 'agent_misconfigured'],
  [500003, 'agent_misconfigured'],
  [502001, 'agent_misconfigured'],
  [513000, 'agent_misconfigured'],
  [502000, 'app_not_found'],
  [504000, 'conversation_not_found'],
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
