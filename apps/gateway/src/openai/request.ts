import type { CallMessage } from '#core/agents/adapter.ts'
import { isObject, objectOf } from '#core/base/values/json.ts'
import type { RequestedTools } from '#core/calls/request/chat-request.ts'
import { inBody, RequestProblem } from '#http/request/field-place.ts'
import type { CompletionRequest } from './schemas.ts'

/**
 * OpenAI's parameters and how the gateway treats them. It uses the `served` ones itself and passes all others to agents of
 * the platform `openai`. For other agents, `refused` parameters lead to 400, because ignoring them would break what the
 * client builds on the answer; `ignored` ones only influence its style. See docs/decisions/0009.
 */
export const PARAMETERS = {
  served: ['model', 'messages', 'stream', 'stream_options', 'user', 'metadata', 'store', 'answer'],
  refused: [
    'tools',
    'functions',
    'function_call',
    'response_format',
    'logprobs',
    'top_logprobs',
    'audio',
    'modalities',
    'web_search_options',
  ],
  ignored: [
    'temperature',
    'top_p',
    'top_k',
    'min_p',
    'max_tokens',
    'max_completion_tokens',
    'presence_penalty',
    'frequency_penalty',
    'repetition_penalty',
    'logit_bias',
    'seed',
    'stop',
    'n',
    'tool_choice',
    'parallel_tool_calls',
    'reasoning_effort',
    'verbosity',
    'service_tier',
    'prediction',
    'safety_identifier',
    'prompt_cache_key',
  ],
} as const

const REFUSED: ReadonlySet<string> = new Set(PARAMETERS.refused)
const PASSED: ReadonlySet<string> = new Set([...PARAMETERS.refused, ...PARAMETERS.ignored])

/**
 * The parameters to pass to an `openai` agent; unknown ones are left out.
 *
 * @throws {@link RequestProblem} if more than one choice is requested
 */
export function passedParameters(body: CompletionRequest): Record<string, unknown> {
  requireOneChoice(body)
  const passed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body))
    if (PASSED.has(name) && value !== undefined && value !== null) passed[name] = value
  return passed
}

/** Fields that `openai` agents get from the gateway: filled by it, but sent because the caller has them. */
const SENT_BY_GATEWAY = ['stream_options', 'user'] as const

/** Those of them that the request has; a server that refuses one refuses the request then. */
export function sentFields(body: Partial<Record<(typeof SENT_BY_GATEWAY)[number], unknown>>): string[] {
  return SENT_BY_GATEWAY.filter((name) => body[name] !== undefined && body[name] !== null)
}

/** What agents of other platforms than `openai` do not support of a request: its tools, which they may ignore, and the rest. */
export function unsupportedOf(body: CompletionRequest) {
  const names = unsupportedParameters(body)
  return {
    tools: toolsOf(body, names.filter(isOfTools)),
    unsupported: names.filter((name) => !isOfTools(name)).map((name) => [name]),
  }
}

function toolsOf(body: CompletionRequest, names: readonly string[]): RequestedTools {
  const { tools, tool_choice, function_call } = body as Record<string, unknown>
  const kinds = names.flatMap((name) => {
    if (name === 'functions') return ['function']
    return name === 'tools' && Array.isArray(tools) ? tools.map((tool) => String(objectOf(tool).type)) : []
  })
  const forced = [
    ...(names.includes('tools') && isForced(tool_choice) ? ['tool_choice'] : []),
    ...(isForced(function_call) ? ['function_call'] : []),
  ]
  return {
    fields: names.map((name) => [name]),
    kinds,
    forcedBy: forced[0] === undefined ? undefined : [forced[0]],
  }
}

/** Whether a choice leaves the agent no answer without a call. */
function isForced(choice: unknown): boolean {
  return choice === 'required' || (isObject(choice) && objectOf(choice.allowed_tools).mode !== 'auto')
}

const isOfTools = (name: string) => name === 'tools' || name === 'functions' || name === 'function_call'

/** The names of the given parameters that agents of other platforms than `openai` do not support. */
export function unsupportedParameters(body: CompletionRequest): string[] {
  const given = body as Record<string, unknown>
  return Object.keys(given).filter(
    (name) => REFUSED.has(name) && isUsed(name, given[name]) && given[CHOICE_OF[name] ?? ''] !== 'none',
  )
}

/** The parameters that, set to `none`, disable the tools of a list. */
const CHOICE_OF: Readonly<Record<string, string>> = { tools: 'tool_choice', functions: 'function_call' }

function isUsed(name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false
  if (Array.isArray(value))
    return name === 'modalities' ? value.some((item) => item !== 'text') : value.length > 0
  if (name === 'response_format') return (value as { type?: unknown }).type !== 'text'
  return name !== 'function_call' || value !== 'none'
}

function requireOneChoice(body: CompletionRequest): void {
  const { n } = body as { n?: unknown }
  if (n !== undefined && n !== null && n !== 1) throw new RequestProblem(inBody('n'), 'expected 1.')
}

/** The messages for the adapters. Properties that only OpenAI's servers understand are passed separately in `extra`. */
export function callMessages(body: CompletionRequest): readonly CallMessage[] {
  return body.messages.map(({ role, content, ...extra }) => {
    const message = { role, content: content ?? null }
    return Object.keys(extra).length > 0 ? { ...message, extra } : message
  })
}
