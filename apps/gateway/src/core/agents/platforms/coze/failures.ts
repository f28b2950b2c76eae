import type { HeaderReader } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { EarlyRefusals } from '#core/agents/translate/early-refusals.ts'
import { failureOf, reasonOfStatus, statusOfError } from '#core/agents/translate/failure.ts'
import { messageIn } from '#core/agents/translate/refusals/error-words.ts'
import { reasonOfRun } from '#core/agents/translate/refusals/whose-fault.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import { type JsonObject, objectOf } from '#core/base/values/json.ts'

interface CozeReply {
  readonly status?: number
  readonly header?: HeaderReader
  /**
   * Whether the request named a conversation; the cloud reports an unknown one as 4002 or as 4200, any
   * missing resource.
   */
  readonly hasConversation?: boolean
  /** Whether the error is the whole reply, in place of a stream. In a stream the chat has been created before. */
  readonly isWhole: boolean
}

/** Maps an error by its `code`, because errors also come with status 200 and texts differ between regions. */
export function cozeFailure(body: JsonObject, reply: CozeReply): Failure {
  const { status, header, hasConversation, isWhole } = reply
  const message = messageIn(body.msg)
  const code = innerCode(cozeCode(body.code), message)
  return failureOf(reasonOf(code, status, message ?? '', hasConversation === true), {
    status,
    header,
    code: Number.isNaN(code) ? body.code : code,
    logId: objectOf(body.detail).logid ?? header?.('x-tt-logid'),
    message,
    turn: isWhole && (status ?? 200) < 500 ? EARLY.turnOf({ code }) : undefined,
  })
}

/**
 * Coze refuses these without creating a chat. A busy system (4009) may have begun one, and what a wrong parameter (4000) was
 * is not known.
 */
const EARLY = new EarlyRefusals([
  { code: 4002 },
  { code: 4015 },
  { code: 4016 },
  { code: 4019 },
  { code: 4020 },
  { code: 4100 },
  { code: 4200 },
  { code: 700012006 },
])

/**
 * The cloud documents a range for file errors but no code for an unknown id, which may therefore also be reported as a wrong
 * parameter. If it is not the id, a file is uploaded once more for nothing.
 */
export function isCozeFileRefusal({ platformCode }: Failure): boolean {
  const code = cozeCode(platformCode)
  return isFileCode(code) || WRONG_PARAMETER.has(code) || code === STUDIO_UPLOAD_FAILED
}

/** Returns the code as a number, although some builds send it as a string, or NaN if there is none. */
export function cozeCode(code: unknown): number {
  return typeof code === 'number' || typeof code === 'string' ? Number(code) : Number.NaN
}

/** In a stream of coze-studio the code of a failure before the run is always the same, and its own one begins the text. */
function innerCode(code: number, message: string | undefined): number {
  const inner = code === STUDIO_FAILED ? /^code=(\d{1,12})/.exec(message ?? '')?.[1] : undefined
  return inner === undefined ? code : Number(inner)
}

function reasonOf(
  code: number,
  status: number | undefined,
  message: string,
  hasConversation: boolean,
): ErrorReason {
  // A model's error (4013), for example, may be a rate limit that only the status reveals.
  if (status === 429) return 'agent_rate_limited'
  if (code === 4200 && hasConversation) return 'conversation_not_found'
  if (code === 4101 && /token/i.test(message)) return 'agent_credentials'
  if (isFileCode(code)) return 'agent_rejected_input'
  const reason = REASON_BY_CODE.get(code) ?? reasonOfStatus(statusOfError(code, status) ?? 500)
  // Of a failure of the model the text alone says which it was.
  return reason === 'agent_error' ? (reasonOfRun(message) ?? reason) : reason
}

function isFileCode(code: number): boolean {
  return code >= 4300 && code < 4400
}

/** Of the cloud and of coze-studio. */
const WRONG_PARAMETER: ReadonlySet<number> = new Set([4000, 400, 103000000])

const STUDIO_FAILED = 103100001

/** Also for an upload that coze-studio cannot read. */
const STUDIO_UPLOAD_FAILED = 104000008

/** The cloud's codes come first, then coze-studio's. */
const REASON_BY_CODE: ReadonlyMap<number, ErrorReason> = new Map([
  [4000, 'agent_rejected_input'],
  [4001, 'conversation_not_found'],
  [4002, 'conversation_not_found'],
  [4005, 'conversation_not_found'],
  [4006, 'app_not_found'],
  [4007, 'agent_rejected_input'],
  [4008, 'agent_rate_limited'],
  [4009, 'agent_rate_limited'],
  [4010, 'agent_rejected_input'],
  [4011, 'agent_quota'],
  [4012, 'agent_misconfigured'],
  [4013, 'agent_error'],
  [4014, 'agent_error'],
  [4015, 'agent_misconfigured'],
  [4016, 'conversation_busy'],
  [4019, 'agent_quota'],
  [4020, 'agent_rate_limited'],
  [4021, 'agent_misconfigured'],
  [4022, 'agent_quota'],
  [4100, 'agent_credentials'],
  [4101, 'agent_misconfigured'],
  [4102, 'agent_misconfigured'],
  [4104, 'conversation_busy'],
  [4105, 'content_filtered'],
  [4200, 'app_not_found'],
  [5000, 'agent_error'],
  [700012006, 'agent_credentials'],
  [400, 'agent_rejected_input'],
  [500, 'agent_error'],
  [103000000, 'agent_rejected_input'],
  [103000001, 'agent_misconfigured'],
  [103000002, 'conversation_not_found'],
  [STUDIO_FAILED, 'agent_error'],
  [103100002, 'app_not_found'],
  [103200003, 'agent_error'],
  // No chatflow is set up.
  [103200004, 'agent_misconfigured'],
  [103200005, 'conversation_busy'],
  [104000001, 'agent_misconfigured'],
  [104000003, 'agent_rejected_input'],
  [104000004, 'agent_rejected_input'],
  [STUDIO_UPLOAD_FAILED, 'agent_error'],
])
