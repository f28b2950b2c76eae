import type { ErrorKind } from '../replies/faults.ts'
import { type Answer, json } from '../serving/answer.ts'

/** The emulated server: OpenAI's own, vLLM or Ollama. */
export type OpenAiFlavour = 'openai' | 'vllm' | 'ollama'

interface OpenAiError {
  readonly status: number
  readonly message: string
  readonly type: string
  readonly code: string | null
  readonly retryAfterSeconds?: number
}

export const openAiErrors = {
  credentials: {
    status: 401,
    message: 'Incorrect API key provided: sk-x.',
    type: 'invalid_request_error',
    code: 'invalid_api_key',
  },
  quota: {
    status: 429,
    message: 'You exceeded your current quota, please check your plan and billing details.',
    type: 'insufficient_quota',
    code: 'insufficient_quota',
  },
  'rate-limit': {
    status: 429,
    message: 'Rate limit reached for requests. Please try again in 20s.',
    type: 'requests',
    code: 'rate_limit_exceeded',
    retryAfterSeconds: 20,
  },
  busy: {
    status: 503,
    message: 'The engine is currently overloaded, please try again later',
    type: 'server_error',
    code: 'overloaded',
    retryAfterSeconds: 5,
  },
  'not-found': {
    status: 404,
    message: 'Invalid URL (POST /v1/chat/completions)',
    type: 'invalid_request_error',
    code: null,
  },
  'app-not-found': modelNotFound('gpt-unknown'),
  rejected: {
    status: 400,
    message: "This model's maximum context length is 4096 tokens.",
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
  },
  filtered: {
    status: 400,
    message: 'The request was rejected by the content management policy.',
    type: 'invalid_request_error',
    code: 'content_filter',
  },
  misconfigured: {
    status: 403,
    message: 'Project does not have access to this model.',
    type: 'invalid_request_error',
    code: 'model_not_found',
  },
  server: { status: 500, message: 'The server had an error', type: 'server_error', code: null },
} as const satisfies Record<ErrorKind, OpenAiError>

export function modelNotFound(model: string): OpenAiError {
  return {
    status: 404,
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    type: 'invalid_request_error',
    code: 'model_not_found',
  }
}

export function invalidRequest(message: string): OpenAiError {
  return { status: 400, message, type: 'invalid_request_error', code: null }
}

export function openAiRefusal(flavour: OpenAiFlavour, error: OpenAiError): Answer {
  const { status, message, type, code, retryAfterSeconds } = error
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
  // Older releases of vLLM send the error's fields at the top level of the body, with the status in `code`.
  const body =
    flavour === 'vllm'
      ? { object: 'error', message, type: 'BadRequestError', param: null, code: status }
      : { error: { message, type, param: null, code: flavour === 'ollama' ? null : code } }
  return json(status, body, headers)
}
