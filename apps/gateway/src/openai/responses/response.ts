import type { TokenCounts } from '#core/agents/events.ts'
import { objectOf } from '#core/base/values/json.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import { isGiven } from './input.ts'
import type { ReadRequest } from './request.ts'
import type { ResponseRequest } from './schemas.ts'
import { honouredChoice } from './tools.ts'

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'

/** What a response repeats of its request, which is little and is kept until the reply ends. */
export type Echo = ReturnType<typeof echoOf>

/** The fields of a response that do not depend on the reply: what was honoured, or else OpenAI's defaults. */
export function echoOf(body: ResponseRequest, { tools, parameters, format }: ReadRequest) {
  const { instructions, previous_response_id: previous, metadata, store, reasoning } = body
  const {
    temperature,
    top_p,
    max_tokens: max,
    parallel_tool_calls: parallel,
    verbosity,
    top_logprobs,
  } = parameters
  const { effort } = objectOf(reasoning)
  return {
    /** Of an agent that gets the parameters. */
    passed: {
      temperature: temperature ?? 1,
      top_p: top_p ?? 1,
      max_output_tokens: max ?? null,
      top_logprobs: top_logprobs ?? 0,
      parallel_tool_calls: parallel ?? true,
      tools: tools.honoured,
      tool_choice: honouredChoice(body.tool_choice, tools),
      text: { format, ...(isGiven(verbosity) && { verbosity }) },
      reasoning: isGiven(effort) ? { effort, summary: null } : null,
    },
    /** The names of custom tools, which the model calls as functions. */
    customs: tools.customs,
    instructions: isGiven(instructions) ? instructions : null,
    request: {
      previous_response_id: isGiven(previous) ? previous : null,
      metadata: metadata ?? {},
      store: store ?? true,
    },
  }
}

const TEXT = { format: { type: 'text' } }

/** Of agents that get none of the parameters. */
const NOT_PASSED = {
  temperature: 1,
  top_p: 1,
  max_output_tokens: null,
  top_logprobs: 0,
  parallel_tool_calls: true,
  tools: [],
  tool_choice: 'auto',
  text: TEXT,
  reasoning: null,
}

const NEVER = {
  truncation: 'disabled',
  presence_penalty: 0,
  frequency_penalty: 0,
  max_tool_calls: null,
  background: false,
  service_tier: 'default',
  safety_identifier: null,
  prompt_cache_key: null,
}

/** A response without its output and its end. */
export function responseHead(chat: ChatHead, echo: Echo) {
  return {
    id: `resp_${chat.callId}`,
    object: 'response' as const,
    created_at: chat.created,
    ...echo.request,
    user: chat.endUser === '' ? null : chat.endUser,
    instructions: chat.takesMessages ? echo.instructions : null,
    ...(chat.takesParameters ? echo.passed : NOT_PASSED),
    ...NEVER,
    conversation: { id: chat.conversationId },
  }
}

/** All counts, or null where the platform reported none; some clients crash on a partial object, so unknown parts are 0. */
export function responseUsage(usage: TokenCounts | undefined) {
  if (usage === undefined) return null
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens ?? 0 },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: usage.totalTokens,
  }
}
