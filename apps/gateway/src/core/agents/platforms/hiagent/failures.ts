import type { HeaderReader } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { EarlyRefusals } from '#core/agents/translate/early-refusals.ts'
import { failureOf, reasonOfStatus, refusalReader, statusOfError } from '#core/agents/translate/failure.ts'
import { reasonInWords } from '#core/agents/translate/refusals/whose-fault.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import { type JsonObject, objectOf } from '#core/base/values/json.ts'
import { errorOf, withoutNull } from './wire.ts'

/** Maps a reply that is an error, whatever its status. */
export function hiagentRefusal(status: number, body: unknown, header: HeaderReader): Failure {
  return readRefusal(status, withoutNull(body), header)
}

const readRefusal = refusalReader((error, reply) => bodyFailure(error, { ...reply, isWhole: true }))

/**
 * What HiAgent says of its conversations, its apps and the request, in English codes and Chinese texts. Both are unpublished, so
 * they are searched for words; those that mean the same to all vendors come after these.
 */
const REASON_BY_WORD: readonly (readonly [RegExp, ErrorReason])[] = [
  [
    /conversation.{0,20}busy|(?:会话|对话).{0,12}(?:进行中|处理中|占用|忙)|正在(?:生成|回答|处理|运行)/i,
    'conversation_busy',
  ],
  [
    /conversation.{0,20}not_?\s?(?:found|exist)|(?:会话|对话).{0,12}(?:不存在|未找到|找不到|已删除|已?失效|已?过期|无效)/i,
    'conversation_not_found',
  ],
  [
    /app.{0,20}not_?\s?(?:found|exist)|(?:应用|智能体).{0,12}(?:不存在|未找到|找不到|已删除)/i,
    'app_not_found',
  ],
  [/not_?\s?published|forbidden/i, 'agent_misconfigured'],
  [
    /invalid_?\s?(?:param|arg)|param.{0,20}(?:invalid|error)|missing_?\s?param|参数.{0,10}(?:错误|无效|缺失|非法|不合法|异常|为空)|缺少.{0,8}参数/i,
    'agent_rejected_input',
  ],
  [/频率|频繁|限流|并发|qps|rpm|tpm/i, 'agent_rate_limited'],
  [
    /(?:输入|问题|内容|文本|上下文|提示词|消息).{0,10}(?:过长|超长|太长|超过|超出)|文件.{0,12}(?:过大|超过|超出|不支持|格式|类型|解析)/,
    'agent_rejected_input',
  ],
  [/auth|signature|access_?denied/i, 'agent_credentials'],
  [/flow_?limit|concurren|too_?\s?many/i, 'agent_rate_limited'],
  [/quota|balance|arrear|insufficient/i, 'agent_quota'],
  [/sensitive|moderation|censor|risk/i, 'content_filtered'],
]

/** The only refusal of which a reply is recorded; what HiAgent stores before other ones is not known. */
const EARLY = new EarlyRefusals([{ code: 'AuthFailed' }])

interface HiAgentReply {
  readonly status?: number
  readonly header?: HeaderReader
  /** Whether the error is the whole reply, in place of a stream. */
  readonly isWhole: boolean
}

export function bodyFailure(body: JsonObject, { isWhole, ...reply }: HiAgentReply): Failure {
  const { Code: code, Message: message } = errorOf(body) ?? {}
  const words = [code, message].filter((word) => typeof word === 'string')
  const reason =
    words.flatMap((word) => REASON_BY_WORD.find(([pattern]) => pattern.test(word))?.[1] ?? [])[0] ??
    reasonInWords({ code, message }, reply.status) ??
    reasonOfStatus(statusOfError(code, reply.status) ?? 500)
  const turn = isWhole ? EARLY.turnOf({ code }) : undefined
  return failureOf(reason, {
    ...reply,
    code,
    message,
    logId: objectOf(body.ResponseMetadata).RequestId,
    turn,
  })
}
