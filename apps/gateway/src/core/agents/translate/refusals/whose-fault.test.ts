import { describe, expect, test } from 'vitest'
import { VENDORS } from './vendors.ts'
import { reasonInWords } from './whose-fault.ts'

/** The body of a refusal as the vendor sends it, with its status. */
type Refusal = readonly [vendor: string, status: number, body: unknown, reason: string | undefined]

const REFUSALS: readonly Refusal[] = [
  [
    'OpenAI',
    429,
    {
      message: 'You exceeded your current quota, please check your plan and billing details.',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    },
    'agent_quota',
  ],
  [
    'OpenAI',
    401,
    { message: 'Incorrect API key provided: sk-x.', type: 'invalid_request_error', code: 'invalid_api_key' },
    'agent_credentials',
  ],
  [
    'OpenAI',
    429,
    {
      message: 'Rate limit reached for gpt-x on tokens per min. Please try again in 6ms.',
      type: 'tokens',
      code: 'rate_limit_exceeded',
    },
    'agent_rate_limited',
  ],
  [
    'Azure OpenAI',
    401,
    { code: '401', message: 'Access denied due to invalid subscription key or wrong API endpoint.' },
    'agent_credentials',
  ],
  [
    'Azure OpenAI',
    404,
    { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' },
    'agent_misconfigured',
  ],
  [
    'Azure OpenAI',
    400,
    {
      code: 'content_filter',
      message: 'The response was filtered',
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    },
    'content_filtered',
  ],
  [
    'Azure OpenAI',
    429,
    {
      code: '429',
      message:
        'Requests to the ChatCompletions_Create Operation have exceeded token rate limit. Please retry after 26 seconds.',
    },
    'agent_rate_limited',
  ],
  [
    'Alibaba DashScope',
    400,
    { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' },
    'agent_quota',
  ],
  [
    'Alibaba DashScope',
    400,
    { code: 'DataInspectionFailed', message: 'Input data may contain inappropriate content.' },
    'content_filtered',
  ],
  [
    'Alibaba DashScope',
    429,
    {
      code: 'Throttling.AllocationQuota',
      message: 'Allocated quota exceeded, please increase your quota limit.',
    },
    'agent_rate_limited',
  ],
  [
    'Alibaba DashScope',
    401,
    { code: 'InvalidApiKey', message: 'Invalid API-key provided.' },
    'agent_credentials',
  ],
  [
    'Zhipu (Z.ai)',
    429,
    { error: { code: '1113', message: '您的账户已欠费，请充值后重试。' } },
    'agent_quota',
  ],
  [
    'Zhipu (Z.ai)',
    429,
    { error: { code: '1302', message: '您当前使用该API的并发数过高' } },
    'agent_rate_limited',
  ],
  [
    'Zhipu (Z.ai)',
    400,
    { error: { code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容' } },
    'content_filtered',
  ],
  [
    'Zhipu (Z.ai)',
    400,
    { error: { code: '1211', message: '模型不存在，请检查模型代码。' } },
    'agent_misconfigured',
  ],
  [
    'Moonshot (Kimi)',
    429,
    {
      error: {
        type: 'exceeded_current_quota_error',
        message: 'Your account org-x<ak-x> is suspended, please check your plan and billing details',
      },
    },
    'agent_quota',
  ],
  [
    'Moonshot (Kimi)',
    429,
    {
      error: {
        type: 'engine_overloaded_error',
        message: 'The engine is currently overloaded, please try again later',
      },
    },
    'agent_rate_limited',
  ],
  [
    'Moonshot (Kimi)',
    404,
    { error: { type: 'resource_not_found_error', message: 'Not found the model x or Permission denied' } },
    'agent_misconfigured',
  ],
  [
    'DeepSeek',
    402,
    { error: { message: 'Insufficient Balance', type: 'unknown_error', code: 'invalid_request_error' } },
    'agent_quota',
  ],
  [
    'DeepSeek',
    400,
    { error: { message: 'Model Not Exist', type: 'invalid_request_error', code: 'invalid_request_error' } },
    'agent_misconfigured',
  ],
  [
    'DeepSeek',
    400,
    { error: { message: 'Content Exists Risk', type: 'invalid_request_error' } },
    'content_filtered',
  ],
  ['SiliconFlow', 401, 'Invalid token', 'agent_credentials'],
  [
    'SiliconFlow',
    403,
    { code: 30001, message: 'Sorry, your account balance is insufficient', data: null },
    'agent_quota',
  ],
  [
    'SiliconFlow',
    400,
    { code: 20012, message: 'Model does not exist. Please check it carefully.', data: null },
    'agent_misconfigured',
  ],
  [
    'SiliconFlow',
    503,
    { code: 50505, message: 'Model service overloaded. Please try again later.', data: null },
    'agent_rate_limited',
  ],
  [
    'Volcengine Ark',
    403,
    {
      error: {
        code: 'AccountOverdueError',
        message: 'The request failed because your account has an overdue balance.',
      },
    },
    'agent_quota',
  ],
  [
    'Volcengine Ark',
    404,
    { error: { code: 'InvalidEndpointOrModel.NotFound', message: 'The model or endpoint x does not exist' } },
    'agent_misconfigured',
  ],
  [
    'Volcengine Ark',
    400,
    { error: { code: 'SensitiveContentDetected.Violence', message: 'The request failed' } },
    'content_filtered',
  ],
  [
    'Volcengine Ark',
    429,
    { error: { code: 'RateLimitExceeded.EndpointRPMExceeded', message: 'The RPM limit has been exceeded' } },
    'agent_rate_limited',
  ],
  [
    'Google Gemini',
    400,
    [
      {
        error: {
          code: 400,
          message: 'API key not valid. Please pass a valid API key.',
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      },
    ],
    'agent_credentials',
  ],
  [
    'Google Gemini',
    429,
    [
      {
        error: {
          code: 429,
          message: 'You exceeded your current quota, please check your plan and billing details.',
          status: 'RESOURCE_EXHAUSTED',
        },
      },
    ],
    'agent_rate_limited',
  ],
  [
    'Google Gemini',
    503,
    {
      error: {
        code: 503,
        message: 'The model is overloaded. Please try again later.',
        status: 'UNAVAILABLE',
      },
    },
    'agent_rate_limited',
  ],
  [
    'Google Gemini',
    400,
    {
      error: {
        code: 400,
        message: 'User location is not supported for the API use.',
        status: 'FAILED_PRECONDITION',
      },
    },
    'agent_misconfigured',
  ],
  [
    'Mistral',
    400,
    { object: 'error', message: 'Invalid model: x', type: 'invalid_model', code: '1500' },
    'agent_misconfigured',
  ],
  [
    'Mistral',
    429,
    {
      object: 'error',
      message: 'Service tier capacity exceeded for this model.',
      type: 'invalid_request_error',
      code: null,
    },
    'agent_rate_limited',
  ],
  [
    'Groq',
    400,
    {
      error: {
        message: 'The model `x` has been decommissioned',
        type: 'invalid_request_error',
        code: 'model_decommissioned',
      },
    },
    'agent_misconfigured',
  ],
  [
    'Groq',
    413,
    {
      error: {
        message: 'Request too large for model `x` on tokens per minute (TPM)',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    },
    'agent_rejected_input',
  ],
  [
    'OpenRouter',
    402,
    {
      error: {
        code: 402,
        message: 'Insufficient credits. Add more using https://openrouter.ai/settings/credits',
      },
    },
    'agent_quota',
  ],
  [
    'OpenRouter',
    400,
    { error: { code: 400, message: 'foo/bar is not a valid model ID' } },
    'agent_misconfigured',
  ],
  [
    'OpenRouter',
    403,
    {
      error: {
        code: 403,
        message: 'Your chosen model requires moderation and your input was flagged',
        metadata: { reasons: ['violence'] },
      },
    },
    'content_filtered',
  ],
  [
    'OpenRouter',
    400,
    {
      error: {
        code: 400,
        message: 'Provider returned error',
        metadata: { raw: '{"error":{"message":"Insufficient Balance"}}' },
      },
    },
    'agent_quota',
  ],
  [
    'Anthropic',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'Your credit balance is too low to access the Anthropic API.',
      },
    },
    'agent_quota',
  ],
  [
    'Anthropic',
    529,
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    'agent_rate_limited',
  ],
  [
    'xAI',
    400,
    { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***g.' },
    'agent_credentials',
  ],
  [
    'vLLM, SGLang',
    404,
    { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 },
    'agent_misconfigured',
  ],
  ['vLLM, SGLang', 401, { error: 'Unauthorized' }, 'agent_credentials'],
  [
    'Ollama',
    404,
    { error: { message: 'model "x:7b" not found, try pulling it first', type: 'api_error' } },
    'agent_misconfigured',
  ],
  [
    'Ollama',
    503,
    { error: 'server busy, please try again.  maximum pending requests exceeded' },
    'agent_rate_limited',
  ],
  [
    'LiteLLM',
    400,
    {
      error: {
        message: 'Budget has been exceeded! Current cost: 26, Max budget: 0.25',
        type: 'budget_exceeded',
        code: '400',
      },
    },
    'agent_quota',
  ],
  [
    'LiteLLM',
    401,
    { error: { message: 'Authentication Error, ExceededBudget: over', type: 'auth_error', code: '401' } },
    'agent_quota',
  ],
  [
    'LiteLLM',
    400,
    {
      error: {
        message:
          'litellm.BadRequestError: DeepseekException - {"error":{"message":"Insufficient Balance","type":"unknown_error"}}',
        code: '400',
      },
    },
    'agent_quota',
  ],
  [
    'one-api, new-api',
    403,
    {
      error: {
        message: 'token quota is not enough',
        type: 'new_api_error',
        code: 'pre_consume_token_quota_failed',
      },
    },
    'agent_quota',
  ],
  [
    'one-api, new-api',
    503,
    { error: { message: '当前分组 default 下对于模型 x 无可用渠道', type: 'one_api_error' } },
    'agent_misconfigured',
  ],
]

test.each(REFUSALS)('%s, %i: %j is %s', (_vendor, status, body, reason) => {
  expect(reasonInWords(body, status)).toBe(reason)
})

test('there is a recorded refusal of every vendor, and every vendor has a source', () => {
  expect(VENDORS.length).toBeGreaterThanOrEqual(12)
  expect(new Set(REFUSALS.map(([vendor]) => vendor))).toEqual(new Set(VENDORS.map(({ name }) => name)))
  for (const { source } of VENDORS) expect(source).toMatch(/^https:\/\//)
})

describe('words that no vendor of the list uses', () => {
  test.each([
    [400, 'Your wallet has insufficient funds', 'agent_quota'],
    [403, 'Account suspended: payment overdue', 'agent_quota'],
    [400, 'Please top up your account', 'agent_quota'],
    [400, 'The provided api key has expired', 'agent_credentials'],
    [403, 'Missing authentication token', 'agent_credentials'],
    [400, 'Unknown model', 'agent_misconfigured'],
    [500, 'No available channel for this group', 'agent_misconfigured'],
    [400, 'Your prompt was flagged by our safety system', 'content_filtered'],
    [503, 'All backends are busy due to high demand', 'agent_rate_limited'],
    [500, 'Too many concurrent requests', 'agent_rate_limited'],
    [400, '账号余额不足', 'agent_quota'],
    [400, '您的套餐已到期', 'agent_quota'],
    [400, '身份验证失败', 'agent_credentials'],
    [400, '模型 x 已下线', 'agent_misconfigured'],
    [400, '内容涉嫌违规', 'content_filtered'],
    [503, '当前服务负载过高', 'agent_rate_limited'],
    [429, '您的积分不足', 'agent_quota'],
    [429, 'whatever', undefined],
    [402, 'whatever', undefined],
    [500, 'Internal error', undefined],
    [400, 'Invalid JSON: unexpected token } at position 3', undefined],
    [400, 'max_tokens must be at least 1', undefined],
    [400, 'messages: content must not be empty', undefined],
    [401, 'Too many requests were made without a key', undefined],
  ])('%i %s is %s', (status, message, reason) => {
    expect(reasonInWords({ error: { message } }, status)).toBe(reason)
    expect(reasonInWords({ detail: message }, status)).toBe(reason)
  })

  test.each([
    ['a quotation', { message: "Invalid tool name: 'insufficient balance'" }],
    [
      'the input that a validator repeats',
      { detail: [{ msg: 'Field required', input: { text: 'invalid api key' } }] },
    ],
    ['another field', { message: 'Bad request', body: { messages: [{ content: '余额不足' }] } }],
    [
      'a long text, far from its beginning',
      { message: `Cannot read the file ${'x'.repeat(400)} unauthorized, flagged` },
    ],
  ])("a caller's own words do not count: %s", (_where, error) => {
    expect(reasonInWords({ error }, 400)).toBeUndefined()
  })
})

test.each([
  [{ message: 'must be one of the list', param: 'model' }, 'agent_misconfigured'],
  [{ detail: [{ loc: ['body', 'model'], msg: 'Value error' }] }, 'agent_misconfigured'],
  [{ message: 'must be positive', param: 'max_tokens' }, undefined],
  [{ message: 'The model x is not supported' }, 'agent_misconfigured'],
  [{ message: 'This model is not supported with images' }, undefined],
])('the model is the choice of the operator: %j', (error, reason) => {
  expect(reasonInWords({ error }, 400)).toBe(reason)
})

test('a number means what it does to a vendor only with its status', () => {
  expect(reasonInWords({ error: { code: '1113', message: 'x' } }, 429)).toBe('agent_quota')
  expect(reasonInWords({ error: { code: 1113, message: 'x' } }, undefined)).toBe('agent_quota')
  expect(reasonInWords({ error: { code: '1113', message: 'x' } }, 500)).toBeUndefined()
})

test.each([
  null,
  7,
  [],
  {},
  { error: { toString: 1, code: { valueOf: 1 } } },
  '{'.repeat(5_000),
  { message: '{"message":'.repeat(900) },
])('whatever is in an error, reading it throws nothing: %j', (error) => {
  expect(reasonInWords(error, 400)).toBeUndefined()
})
