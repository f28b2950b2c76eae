import type { ErrorReason } from '#core/base/errors/errors.ts'
import { errorWords } from './error-words.ts'
import { hasPathTo } from './refused-fields.ts'
import { VENDORS, type VendorWords } from './vendors.ts'

/**
 * What the words of an error say of whose fault it is. A vendor's own words decide first, then words that mean the same to all.
 * Undefined if nothing in it is known; then its status decides.
 *
 * @param error - the error as the platform sent it, or its text
 * @param status - the HTTP status; undefined for an error within a response that began as a success
 */
export function reasonInWords(error: unknown, status: number | undefined): ErrorReason | undefined {
  // Whatever else is said of it, such as a limit of tokens a minute: what was sent is too large to be sent again.
  if (status === 413) return 'agent_rejected_input'
  const { codes, texts, objects } = errorWords(error)
  const spelled = codes.map(spellingOf)
  return (
    ofVendor(status, ({ text }) => text !== undefined && texts.some((each) => text.test(each))) ??
    ofVendor(status, (words) => spelled.some((code) => hasCode(words, code))) ??
    OF_CODES.find(({ words }) => codes.some((code) => words.test(code)))?.reason ??
    // The operator has chosen the model.
    (hasPathTo('model', objects) ? 'agent_misconfigured' : undefined) ??
    ofTexts(texts, status)
  )
}

/**
 * What the words of a failure within an agent's own run say. Of keys and models they say nothing about the gateway's: the agent's own
 * are at fault then.
 */
export function reasonOfRun(error: unknown): ErrorReason | undefined {
  const reason = reasonInWords(error, undefined)
  return reason === 'agent_credentials' || reason === 'agent_misconfigured' ? 'agent_error' : reason
}

function ofVendor(
  status: number | undefined,
  isSaid: (words: VendorWords) => boolean,
): ErrorReason | undefined {
  for (const { words } of VENDORS) {
    for (const each of words) {
      const fits = each.statuses === undefined || status === undefined || each.statuses.includes(status)
      if (fits && isSaid(each)) return each.reason
    }
  }
  return undefined
}

/** Codes as they are compared. What follows a point makes a code more precise. */
function spellingOf(code: string): string {
  return code.toLowerCase().replace(/[^a-z0-9.]/g, '')
}

const spellings = new Map<VendorWords, readonly string[]>()

function hasCode(words: VendorWords, code: string): boolean {
  if (words.codes === undefined) return false
  let known = spellings.get(words)
  if (known === undefined) {
    known = words.codes.map(spellingOf)
    spellings.set(words, known)
  }
  return known.some((each) => code === each || code.startsWith(`${each}.`))
}

interface CommonWords {
  readonly reason: ErrorReason
  readonly words: RegExp
}

/** In codes and types of whatever vendor, the most specific first. */
const OF_CODES: readonly CommonWords[] = [
  {
    reason: 'content_filtered',
    words: /content_?filter|content_policy|moderation|ResponsibleAI|sensitive_?content/i,
  },
  { reason: 'agent_rejected_input', words: /context_?length|string_above_max|prompt_?too_?long/i },
  {
    reason: 'agent_quota',
    words:
      /insufficient.{0,40}(?:quota|balance|credit|fund)|quota_?exceeded|billing|arrear|overdue|payment_?required|credits?_?error/i,
  },
  {
    reason: 'agent_credentials',
    words: /api_?key|authentication|unauthori[sz]ed|invalid_?(?:access_?)?token/i,
  },
  {
    reason: 'agent_misconfigured',
    words: /model_?not_?found|permission|NotFoundError|not_found_error|model_?not_?exist/i,
  },
  {
    reason: 'agent_rate_limited',
    words: /rate_?limit|overload|throttl|too_?many_?requests|server_?busy|capacity_?exceeded/i,
  },
]

/** In texts in English and Chinese, the most specific first. */
const OF_TEXTS: readonly CommonWords[] = [
  {
    reason: 'agent_rejected_input',
    words: /context (?:length|window)|maximum context|(?:prompt|input|message)s? (?:is |are )?too long/i,
  },
  {
    reason: 'agent_rate_limited',
    words: /\bper (?:second|minute|hour)\b|\b(?:rpm|tpm|qps|rps)\b|\brate[ -]?limit/i,
  },
  {
    reason: 'agent_quota',
    words:
      /\b(?:insufficient|not enough|no|low|negative|exhausted|zero)\b.{0,20}\b(?:balance|credits?|funds|quota)\b|\b(?:balance|credits?|quota|budget|spending limit|free tier|free trial)\b.{0,40}\b(?:insufficient|not enough|too low|exhausted|exceeded|depleted|used up|ran out|run out|overdue|expired|is zero)\b|\b(?:exceeded|exhausted|used up|run out of|ran out of|reached)\b.{0,40}\b(?:quota|balance|credits?|budget|spending limit)\b|\b(?:account|payment|bill|invoice)\b.{0,40}\b(?:overdue|arrears|past due|suspended|in good standing)\b|\b(?:top up|recharge|add (?:more )?credits?|purchase (?:more )?credits?|payment required)\b/i,
  },
  {
    reason: 'agent_quota',
    words:
      /欠费|余额.{0,6}(?:不足|用尽|耗尽|为零|不够)|(?:额度|配额|积分|点数|资源包|套餐|token ?包).{0,8}(?:不足|不够|用尽|用完|耗尽|已满|到期|过期|超限|超出)|(?:请|需).{0,6}(?:充值|续费|缴费)/i,
  },
  {
    reason: 'agent_credentials',
    words:
      /\b(?:invalid|incorrect|wrong|missing|expired|revoked|disabled|unknown|no|bad|malformed)\b.{0,24}\b(?:api[ _-]?keys?|access[ _-]?token|auth(?:entication|orization)?[ _-]?(?:token|header|credentials?)|bearer token|credentials|subscription key)\b|\b(?:invalid|expired|revoked|incorrect|missing) token\b|\b(?:api[ _-]?key|access token|credentials)\b.{0,40}\b(?:invalid|incorrect|wrong|not valid|not found|expired|missing|revoked|disabled|required|blocked|leaked)\b|^unauthori[sz]ed|\bauthentication (?:fail|error|required)|\b(?:invalid|failed) authentication|\bnot authenticated/i,
  },
  {
    reason: 'agent_credentials',
    words:
      /(?:api ?key|app ?key|密钥|秘钥|令牌|凭证|凭据|身份(?:验证|认证|校验)?|鉴权|认证|签名|登录态).{0,10}(?:无效|错误|失败|过期|失效|不正确|不合法|不存在|不匹配|未通过|未授权|被?禁用|缺失|为空)|(?:无效|错误|过期|未提供|缺少|非法)的?.{0,4}(?:api ?key|app ?key|密钥|秘钥|令牌|凭证|签名)|未授权|未登录/i,
  },
  {
    reason: 'agent_misconfigured',
    words:
      /\bmodel\b.{0,80}\b(?:does not exist|doesn't exist|do not exist|not exist|not found|could not be found|not available|unavailable|decommissioned|deprecated|discontinued|disabled|no longer|not deployed|not loaded|(?:is|are) not supported(?! (?:for|with|in|when|by)))\b|\b(?:invalid|unknown|unsupported|no such|unrecognized|nonexistent) model\b|\bnot a valid model\b|\bno (?:available |allowed )?(?:endpoints?|channels?|providers?)\b|\bdeployment\b.{0,40}\b(?:does not exist|not found)\b/i,
  },
  {
    reason: 'agent_misconfigured',
    words:
      /模型.{0,24}(?:不存在|未找到|找不到|未开通|未部署|无权|无访问权限|已?下线|已?下架|已?停用|不可用)|(?:无|没有)可用(?:的)?(?:渠道|模型|通道)|(?:应用|智能体).{0,12}(?:未发布|未上线|已?下线|已?停用|被?禁用)|(?:没有|无|暂无).{0,8}权限|权限不足|禁止访问/,
  },
  {
    reason: 'content_filtered',
    words:
      /\bcontent[ _](?:filter|polic|moderation|safety|management)|\bflagged\b|\b(?:inappropriate|unsafe|sensitive|prohibited|harmful|illegal)\b.{0,16}\b(?:content|information|words?|text|data)\b|\bhigh risk\b|\bsafety (?:system|polic|reason|filter|check)|\b(?:usage|safety|content) polic(?:y|ies)\b|\bmoderation\b/i,
  },
  {
    reason: 'content_filtered',
    words:
      /敏感|违规|违法|不安全|不合规|不当内容|内容安全|安全策略|安全审核|审核.{0,4}(?:不通过|未通过|失败|拦截)|风控|涉黄|涉政/,
  },
  {
    reason: 'agent_rate_limited',
    words:
      /\boverload|\bover capacity|\bat capacity|capacity (?:is )?exceeded|\b(?:server|service|system|engine|model|cluster|backend)s? (?:is|are) (?:currently |too |very )*busy|\bserver busy|\btoo many (?:concurrent |simultaneous )?(?:requests|connections|calls)|\bconcurren\w* (?:limit|exceed)|\bthrottl|\bhigh (?:demand|load|traffic)/i,
  },
  {
    reason: 'agent_rate_limited',
    words:
      /过载|繁忙|忙碌|限流|限速|频率|频繁|(?:请求|调用|访问)(?:量|数|次数)?.{0,4}(?:过多|太多|过快|超限|超出|超过|达到?上限)|并发.{0,10}(?:超|上限|限制|过高|过多|已满)|负载.{0,6}(?:饱和|过高)/,
  },
]

const BEGINNING_CHARACTERS = 300

/** Statuses that leave no doubt, except that some vendors use them for a balance as well. */
const CLEAR: ReadonlySet<number> = new Set([401, 429])

function ofTexts(texts: readonly string[], status: number | undefined): ErrorReason | undefined {
  if (status === 402) return undefined
  for (const text of texts) {
    const words = withoutQuotes(text.slice(0, BEGINNING_CHARACTERS))
    const found = OF_TEXTS.find((each) => each.words.test(words))
    if (found === undefined) continue
    if (status !== undefined && CLEAR.has(status) && found.reason !== 'agent_quota') continue
    return found.reason
  }
  return undefined
}

/** What a text quotes is mostly the caller's, or a name. */
function withoutQuotes(text: string): string {
  return text.replace(/(?<=^|[\s(:=：（])(["'`“「])[^"'`”」]{0,200}["'`”」]/g, '…')
}
