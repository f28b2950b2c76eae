import type { ChatEvent, TokenCounts } from '#core/agents/events.ts'
import { countOf, isObject, type JsonObject, objectOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'

/** The names of the counts, of OpenAI and of others: Anthropic, Coze, Ollama, Google. */
const PROMPT = [
  'prompt_tokens',
  'input_tokens',
  'input_count',
  'prompt_eval_count',
  'promptTokenCount',
  'inputTokens',
]
const COMPLETION = [
  'completion_tokens',
  'output_tokens',
  'output_count',
  'eval_count',
  'candidatesTokenCount',
  'outputTokens',
]
const TOTAL = ['total_tokens', 'token_count', 'totalTokenCount', 'totalTokens']

/** Where servers put an object of counts. */
const PLACES = ['usage', 'usageMetadata', 'usage_metadata']

/**
 * The tokens that an object counts, under the names of several servers; nothing if it counts none. Two of the three counts give
 * the third.
 */
export function usageOf(counts: JsonObject): readonly ChatEvent[] {
  return usage(countUnder(PROMPT, counts), countUnder(COMPLETION, counts), countUnder(TOTAL, counts), counts)
}

/** Whether an object has anything in one of the places where servers count tokens. Nearly no chunk of a stream has. */
export function hasUsage({ usage, usageMetadata, usage_metadata }: JsonObject): boolean {
  return isObject(usage) || isObject(usageMetadata) || isObject(usage_metadata)
}

/** The tokens that one of these objects counts in one of the usual places, or itself. The first that counts any is taken. */
export function usageIn(...frames: readonly JsonObject[]): readonly ChatEvent[] {
  for (const frame of frames) {
    for (const place of PLACES) {
      const counts = frame[place]
      const found = isObject(counts) ? usageOf(counts) : []
      if (found.length > 0) return found
    }
  }
  return []
}

/** The tokens of the answer that one of these objects counts, alone or not; 0 if none does. */
export function completionTokensIn(...frames: readonly JsonObject[]): number {
  const counts = frames.flatMap((frame) => PLACES.map((place) => objectOf(frame[place])))
  return firstCount(counts.map((each) => countUnder(COMPLETION, each))) ?? 0
}

/**
 * Returns a usage event, or nothing if fewer than two counts are known, if they contradict one another, or if all of them are
 * zero, which platforms send for "unknown".
 */
export function usage(
  prompt: unknown,
  completion: unknown,
  total?: unknown,
  details: JsonObject = {},
): readonly ChatEvent[] {
  const given = [prompt, completion, total].map(numberOf)
  if (given.some((count) => count !== undefined && countOf(count) === undefined)) return []
  const [promptGiven, completionGiven, totalGiven] = given
  // Zero is sent for an unknown total as well.
  const known = totalGiven || undefined
  const promptTokens = promptGiven ?? difference(known, completionGiven)
  const completionTokens = completionGiven ?? difference(known, promptGiven)
  if (promptTokens === undefined || completionTokens === undefined) return []
  const totalTokens = known ?? promptTokens + completionTokens
  const isContradiction =
    promptTokens < 0 || completionTokens < 0 || totalTokens < Math.max(promptTokens, completionTokens)
  if (totalTokens === 0 || isContradiction) return []
  return [{ type: 'usage', usage: { promptTokens, completionTokens, totalTokens, ...detailsOf(details) } }]
}

/** The parts of the counts that some servers tell, under the names of OpenAI, DeepSeek, Moonshot, Anthropic and Google. */
function detailsOf(counts: JsonObject): Pick<TokenCounts, 'cachedTokens' | 'reasoningTokens'> {
  const ofPrompt = objectOf(counts.prompt_tokens_details ?? counts.input_tokens_details)
  const ofCompletion = objectOf(counts.completion_tokens_details ?? counts.output_tokens_details)
  const cached = [
    ofPrompt.cached_tokens,
    counts.prompt_cache_hit_tokens,
    counts.cached_tokens,
    counts.cache_read_input_tokens,
    counts.cachedContentTokenCount,
  ]
  const reasoning = [ofCompletion.reasoning_tokens, counts.reasoning_tokens, counts.thoughtsTokenCount]
  return omitUndefined({ cachedTokens: firstCount(cached), reasoningTokens: firstCount(reasoning) })
}

function countUnder(names: readonly string[], counts: JsonObject): unknown {
  return names.map((name) => counts[name]).find((count) => count !== undefined && count !== null)
}

function firstCount(values: readonly unknown[]): number | undefined {
  return values.map((value) => countOf(numberOf(value))).find((count) => count !== undefined)
}

function difference(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined ? undefined : total - part
}

/** A number, also one that was sent as text. What is neither is not known. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && !Number.isNaN(number) ? number : undefined
}
