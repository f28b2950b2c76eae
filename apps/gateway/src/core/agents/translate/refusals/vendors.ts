import type { ErrorReason } from '#core/base/errors/errors.ts'

/** Words with which a vendor refuses a request, and what they mean. */
export interface VendorWords {
  readonly reason: ErrorReason
  /**
   * Values of `code`, `type`, `status` or `reason` in an error, in any spelling (`InvalidApiKey`, `invalid_api_key`). The part before
   * a point stands for all that follow it.
   */
  readonly codes?: readonly string[]
  /** How a text begins, or what is in it after its beginning of varying words. */
  readonly text?: RegExp
  /** The statuses with which they mean that; for numbers, which mean something else to another vendor. */
  readonly statuses?: readonly number[]
}

export interface Vendor {
  readonly name: string
  /** Where the words are documented or were reported. */
  readonly source: string
  readonly words: readonly VendorWords[]
}

/**
 * What the vendors of models, and of servers for them, say when they refuse. Which vendor answers is not known, since the address of
 * a proxy says nothing, so the words of all are compared with every error. The table in docs/agents.md is written from this list.
 */
export const VENDORS: readonly Vendor[] = [
  {
    name: 'OpenAI',
    source: 'https://platform.openai.com/docs/guides/error-codes',
    words: [
      {
        reason: 'agent_credentials',
        codes: ['invalid_api_key', 'account_deactivated', 'invalid_organization'],
      },
      {
        reason: 'agent_quota',
        codes: ['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active'],
      },
      { reason: 'agent_misconfigured', codes: ['model_not_found', 'unsupported_country_region_territory'] },
      { reason: 'agent_rejected_input', codes: ['context_length_exceeded', 'string_above_max_length'] },
      { reason: 'content_filtered', codes: ['content_policy_violation', 'invalid_prompt'] },
      { reason: 'agent_rate_limited', codes: ['rate_limit_exceeded', 'engine_overloaded', 'slow_down'] },
    ],
  },
  {
    name: 'Azure OpenAI',
    source: 'https://learn.microsoft.com/azure/ai-foundry/openai/how-to/content-filters',
    words: [
      { reason: 'agent_credentials', text: /^Access denied due to (?:invalid|missing) subscription key/ },
      { reason: 'agent_credentials', codes: ['PermissionDenied'], statuses: [401] },
      { reason: 'agent_quota', text: /^Out of call volume quota/ },
      {
        reason: 'agent_misconfigured',
        codes: ['DeploymentNotFound', 'OperationNotSupported', 'unknown_model', 'InvalidResourceID'],
      },
      { reason: 'agent_misconfigured', text: /^Access denied due to Virtual Network/ },
      { reason: 'content_filtered', codes: ['content_filter', 'ResponsibleAIPolicyViolation'] },
      { reason: 'agent_rate_limited', codes: ['RateLimitReached', 'EngineOverloaded', 'NoCapacity'] },
      { reason: 'agent_rate_limited', text: /^Requests to the .{0,200} have exceeded/ },
    ],
  },
  {
    name: 'Alibaba DashScope',
    source: 'https://help.aliyun.com/zh/model-studio/error-code',
    words: [
      { reason: 'agent_credentials', codes: ['InvalidApiKey', 'NotAuthorized'] },
      {
        reason: 'agent_quota',
        codes: [
          'Arrearage',
          'AllocationQuota.FreeTierOnly',
          'CommodityNotPurchased',
          'PrepaidBillOverdue',
          'PostpaidBillOverdue',
        ],
      },
      {
        reason: 'agent_quota',
        text: /^Access denied, ple?as?s?e make sure your account is in good standing/,
      },
      {
        reason: 'agent_misconfigured',
        codes: ['ModelNotFound', 'Model.AccessDenied', 'AccessDenied.Unpurchased', 'model_not_supported'],
      },
      { reason: 'agent_misconfigured', text: /^Model not exist/ },
      { reason: 'content_filtered', codes: ['DataInspectionFailed', 'data_inspection_failed'] },
      {
        reason: 'content_filtered',
        text: /^(?:Input or output|Input|Output) (?:text )?data may contain inappropriate/,
      },
      {
        reason: 'agent_rate_limited',
        codes: ['Throttling', 'limit_requests', 'limit_burst_rate', 'ServiceUnavailable.Overloaded'],
      },
    ],
  },
  {
    name: 'Zhipu (Z.ai)',
    source: 'https://docs.z.ai/api-reference/api-code',
    words: [
      { reason: 'agent_credentials', codes: ['1000', '1001', '1002', '1003', '1004'], statuses: [401] },
      {
        reason: 'agent_quota',
        codes: ['1112', '1113', '1121', '1308', '1309'],
        statuses: [400, 401, 402, 403, 429],
      },
      { reason: 'agent_quota', text: /^(?:您的账户已欠费|余额不足或无可用资源包)/ },
      {
        reason: 'agent_misconfigured',
        codes: ['1211', '1220', '1221', '1222', '1311'],
        statuses: [400, 403, 404, 429],
      },
      { reason: 'content_filtered', codes: ['1301'], statuses: [400, 403] },
      { reason: 'content_filtered', text: /^系统检测到输入或生成内容可能包含不安全或敏感内容/ },
      {
        reason: 'agent_rate_limited',
        codes: ['1302', '1303', '1304', '1305', '1312'],
        statuses: [400, 429, 500, 503],
      },
    ],
  },
  {
    name: 'Moonshot (Kimi)',
    source: 'https://platform.kimi.com/docs/api/errors',
    words: [
      { reason: 'agent_credentials', codes: ['invalid_authentication_error', 'incorrect_api_key_error'] },
      { reason: 'agent_quota', codes: ['exceeded_current_quota_error'] },
      { reason: 'agent_quota', text: /^Your account .{0,80} (?:is suspended|is not active)/ },
      { reason: 'agent_misconfigured', codes: ['resource_not_found_error', 'permission_denied_error'] },
      { reason: 'content_filtered', text: /^The request was rejected because it was considered high risk/ },
      { reason: 'agent_rate_limited', codes: ['rate_limit_reached_error', 'engine_overloaded_error'] },
    ],
  },
  {
    name: 'DeepSeek',
    source: 'https://api-docs.deepseek.com/quick_start/error_codes',
    words: [
      { reason: 'agent_credentials', text: /^Authentication Fails/ },
      { reason: 'agent_quota', text: /^Insufficient Balance/ },
      { reason: 'agent_misconfigured', text: /^Model Not Exist/ },
      { reason: 'content_filtered', text: /^Content Exists Risk/ },
      { reason: 'agent_rate_limited', text: /^The server is overloaded/ },
    ],
  },
  {
    name: 'SiliconFlow',
    source: 'https://docs.siliconflow.cn/cn/faqs/error-code',
    words: [
      { reason: 'agent_credentials', text: /^(?:Invalid token|Api key is invalid)/ },
      { reason: 'agent_quota', codes: ['30001', '30011'], statuses: [403] },
      { reason: 'agent_quota', text: /^Sorry, your account balance is insufficient/ },
      { reason: 'agent_misconfigured', codes: ['20012', '30003'], statuses: [400, 403, 404] },
      { reason: 'agent_misconfigured', text: /^Model (?:does not exist|disabled)/ },
      { reason: 'agent_rate_limited', codes: ['50505', '50603'], statuses: [503] },
      { reason: 'agent_rate_limited', text: /^(?:Model service overloaded|System is too busy)/ },
    ],
  },
  {
    name: 'Volcengine Ark',
    source: 'https://www.volcengine.com/docs/82379/1299023',
    words: [
      { reason: 'agent_credentials', codes: ['AuthenticationError', 'InvalidAccountStatus'] },
      {
        reason: 'agent_quota',
        codes: ['AccountOverdueError', 'OperationDenied.ServiceOverdue', 'SetLimitExceeded', 'QuotaExceeded'],
      },
      {
        reason: 'agent_misconfigured',
        codes: [
          'InvalidEndpointOrModel',
          'InvalidEndpoint',
          'ModelNotOpen',
          'OperationDenied.ServiceNotOpen',
          'UnsupportedModel',
        ],
      },
      {
        reason: 'content_filtered',
        codes: [
          'SensitiveContentDetected',
          'InputTextSensitiveContentDetected',
          'InputImageSensitiveContentDetected',
          'OutputTextSensitiveContentDetected',
        ],
      },
      {
        reason: 'agent_rate_limited',
        codes: [
          'RateLimitExceeded',
          'ServerOverloaded',
          'RequestBurstTooFast',
          'InflightBatchsizeExceeded',
          'AccountRateLimitExceeded',
          'ModelAccountRpmRateLimitExceeded',
          'ModelAccountTpmRateLimitExceeded',
        ],
      },
    ],
  },
  {
    name: 'Google Gemini',
    source: 'https://ai.google.dev/gemini-api/docs/troubleshooting',
    words: [
      {
        reason: 'agent_credentials',
        codes: [
          'API_KEY_INVALID',
          'API_KEY_EXPIRED',
          'API_KEY_SERVICE_BLOCKED',
          'UNAUTHENTICATED',
          'CONSUMER_SUSPENDED',
        ],
      },
      {
        reason: 'agent_credentials',
        text: /^(?:API key (?:not valid|expired)|Your API key was reported as leaked)/,
      },
      { reason: 'agent_quota', codes: ['BILLING_DISABLED'] },
      { reason: 'agent_quota', text: /^Gemini API free tier is not available/ },
      {
        reason: 'agent_misconfigured',
        codes: ['SERVICE_DISABLED', 'PERMISSION_DENIED', 'FAILED_PRECONDITION'],
      },
      {
        reason: 'agent_misconfigured',
        text: /^(?:models\/\S{1,200} is not found|User location is not supported)/,
      },
      {
        reason: 'agent_rate_limited',
        codes: ['RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'UNAVAILABLE'],
        statuses: [429, 503],
      },
    ],
  },
  {
    name: 'Mistral',
    source: 'https://docs.mistral.ai/resources/error-glossary',
    words: [
      { reason: 'agent_quota', text: /^You have (?:reached|exceeded) your (?:monthly )?(?:budget|spending)/ },
      { reason: 'agent_misconfigured', codes: ['invalid_model'] },
      { reason: 'agent_misconfigured', text: /^Invalid model: / },
      { reason: 'agent_rate_limited', codes: ['rate_limited', 'service_tier_capacity_exceeded'] },
      { reason: 'agent_rate_limited', codes: ['1300', '3505'], statuses: [429] },
      {
        reason: 'agent_rate_limited',
        text: /^(?:Service tier capacity exceeded|Requests rate limit exceeded)/,
      },
    ],
  },
  {
    name: 'Groq',
    source: 'https://console.groq.com/docs/errors',
    words: [
      { reason: 'agent_credentials', codes: ['organization_restricted'] },
      { reason: 'agent_quota', codes: ['blocked_api_access', 'spend_limit_reached'] },
      {
        reason: 'agent_misconfigured',
        codes: [
          'model_decommissioned',
          'model_terms_required',
          'model_permission_blocked_org',
          'model_permission_blocked_project',
          'model_not_active',
        ],
      },
      { reason: 'agent_rate_limited', codes: ['capacity_exceeded'] },
      {
        reason: 'agent_rate_limited',
        text: /^.{0,100}(?:is currently over capacity|Flex tier capacity exceeded)/,
      },
    ],
  },
  {
    name: 'OpenRouter',
    source: 'https://openrouter.ai/docs/api-reference/errors',
    words: [
      {
        reason: 'agent_credentials',
        text: /^(?:No auth credentials found|No cookie auth credentials found|User not found)/,
      },
      {
        reason: 'agent_quota',
        text: /^(?:Insufficient credits|This request requires more credits|Key limit exceeded)/,
      },
      { reason: 'agent_misconfigured', text: /^\S{1,200} is not a valid model ID/ },
      {
        reason: 'agent_misconfigured',
        text: /^(?:No endpoints found|No allowed providers|No available model provider)/,
      },
      { reason: 'content_filtered', text: /^Your chosen model requires moderation|input was flagged/ },
      { reason: 'agent_rate_limited', text: /^Rate limit exceeded: / },
    ],
  },
  {
    name: 'Anthropic',
    source: 'https://docs.anthropic.com/en/api/errors',
    words: [
      { reason: 'agent_credentials', codes: ['authentication_error'] },
      { reason: 'agent_credentials', text: /^invalid x-api-key/ },
      { reason: 'agent_quota', codes: ['billing_error'] },
      { reason: 'agent_quota', text: /^Your credit balance is too low/ },
      { reason: 'agent_misconfigured', codes: ['not_found_error', 'permission_error'] },
      { reason: 'agent_rate_limited', codes: ['rate_limit_error', 'overloaded_error'] },
    ],
  },
  {
    name: 'xAI',
    source: 'https://docs.x.ai/docs/key-information/debugging',
    words: [
      { reason: 'agent_credentials', text: /^Incorrect API key provided/ },
      { reason: 'agent_quota', text: /^Your (?:newly created )?team .{0,80}(?:credits|spending limit)/ },
      { reason: 'agent_misconfigured', text: /^The model \S{1,200} does not exist or your team/ },
      { reason: 'agent_rate_limited', text: /^Too many (?:requests|tokens) for team/ },
    ],
  },
  {
    name: 'vLLM, SGLang',
    source: 'https://github.com/vllm-project/vllm/issues/3485',
    words: [
      { reason: 'agent_credentials', text: /^Unauthorized$/ },
      { reason: 'agent_misconfigured', codes: ['NotFoundError'] },
      { reason: 'agent_misconfigured', text: /^The model `?\S{1,200}?`? does not exist/ },
      { reason: 'agent_rejected_input', text: /^This model's maximum context length/ },
    ],
  },
  {
    name: 'Ollama',
    source: 'https://github.com/ollama/ollama/blob/main/docs/openai.md',
    words: [
      { reason: 'agent_misconfigured', text: /^model .{1,200} not found/ },
      { reason: 'agent_rate_limited', text: /^server busy, please try again/ },
    ],
  },
  {
    name: 'LiteLLM',
    source: 'https://docs.litellm.ai/docs/exception_mapping',
    words: [
      {
        reason: 'agent_credentials',
        codes: ['auth_error', 'token_not_found_in_db', 'expired_key', 'no_api_key'],
      },
      {
        reason: 'agent_credentials',
        text: /^(?:litellm\.AuthenticationError|Authentication Error)(?!.{0,40}Budget)/,
      },
      { reason: 'agent_quota', codes: ['budget_exceeded'] },
      { reason: 'agent_quota', text: /^.{0,80}(?:Budget has been exceeded|ExceededBudget|over budget)/ },
      { reason: 'agent_misconfigured', codes: ['key_model_access_denied', 'team_model_access_denied'] },
      {
        reason: 'agent_misconfigured',
        text: /^(?:litellm\.NotFoundError|.{0,60}Invalid model name passed in)/,
      },
      { reason: 'agent_rate_limited', text: /^(?:litellm\.RateLimitError|No deployments available)/ },
    ],
  },
  {
    name: 'one-api, new-api',
    source: 'https://github.com/QuantumNous/new-api/issues/1737',
    words: [
      { reason: 'agent_credentials', text: /^(?:无效的令牌|该令牌(?:已过期|状态不可用)|未提供令牌)/ },
      { reason: 'agent_quota', codes: ['insufficient_user_quota', 'pre_consume_token_quota_failed'] },
      { reason: 'agent_quota', text: /^(?:该令牌额度已用尽|用户额度不足|预扣费额度失败)/ },
      {
        reason: 'agent_misconfigured',
        codes: [
          'get_channel_failed',
          'channel:no_available_key',
          'channel:invalid_key',
          'model_mapped_error',
        ],
      },
      { reason: 'agent_misconfigured', text: /^(?:当前分组 .{1,80}无可用渠道|该令牌无权使用模型)/ },
      { reason: 'content_filtered', codes: ['sensitive_words_detected', 'prompt_blocked'] },
      { reason: 'agent_rate_limited', text: /^当前分组上游负载已饱和/ },
    ],
  },
]
