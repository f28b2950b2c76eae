import type { ChatEvent, TokenCounts } from '#core/agents/events.ts'
import { countOf, isObject, type JsonObject, objectOf } from '#core/base/values/json.ts'

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

/** The names of parts of the counts, of OpenAI, DeepSeek, Moonshot, Anthropic and Google. */
const CACHED = [
  'prompt_cache_hit_tokens',
  'cached_tokens',
  'cache_read_input_tokens',
  'cachedContentTokenCount',
]
const REASONING = ['reasoning_tokens', 'thoughtsTokenCount']

/** Where servers put an object of counts. */
const PLACES = ['usage', 'usageMetadata', 'usage_metadata']

/**
 * Returns a usage event of the tokens that an object counts, under the names of several servers. Two of the three counts give the
 * third. Nothing if fewer are known, if they contradict one another, or if all of them are zero, which platforms send for "unknown".
 */
export function usageOf(counts: JsonObject): readonly ChatEvent[] {
  const prompt = numberUnder(PROMPT, counts)
  const completion = numberUnder(COMPLETION, counts)
  // Zero is sent for an unknown total as well.
  const total = numberUnder(TOTAL, counts) || undefined
  const promptTokens = prompt ?? difference(total, completion)
  const completionTokens = completion ?? difference(total, prompt)
  const totalTokens = total ?? promptTokens + completionTokens
  const isExact = [promptTokens, completionTokens, totalTokens].every(Number.isSafeInteger)
  const isContradiction =
    Math.min(promptTokens, completionTokens) < 0 || totalTokens < Math.max(promptTokens, completionTokens)
  if (!isExact || isContradiction || totalTokens === 0) return []
  return [{ type: 'usage', usage: { promptTokens, completionTokens, totalTokens, ...detailsOf(counts) } }]
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
  for (const frame of frames) {
    for (const place of PLACES) {
      const count = countOf(numberUnder(COMPLETION, objectOf(frame[place])))
      if (count !== undefined) return count
    }
  }
  return 0
}

/** The parts of the counts that some servers tell. */
function detailsOf(counts: JsonObject): Pick<TokenCounts, 'cachedTokens' | 'reasoningTokens'> {
  const ofPrompt = objectOf(counts.prompt_tokens_details ?? counts.input_tokens_details)
  const ofCompletion = objectOf(counts.completion_tokens_details ?? counts.output_tokens_details)
  const cachedTokens = countOf(numberOf(ofPrompt.cached_tokens)) ?? countUnder(CACHED, counts)
  const reasoningTokens = countOf(numberOf(ofCompletion.reasoning_tokens)) ?? countUnder(REASONING, counts)
  return {
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  }
}

/** The first of these fields that has a value, as a number. */
function numberUnder(names: readonly string[], counts: JsonObject): number | undefined {
  for (const name of names) {
    const value = counts[name]
    if (value !== undefined && value !== null) return numberOf(value)
  }
  return undefined
}

/** The first of these fields that counts something. */
function countUnder(names: readonly string[], counts: JsonObject): number | undefined {
  for (const name of names) {
    const count = countOf(numberOf(counts[name]))
    if (count !== undefined) return count
  }
  return undefined
}

/** Not a number unless both are known. */
function difference(total: number | undefined, part: number | undefined): number {
  return total === undefined || part === undefined ? Number.NaN : total - part
}

/** A number, also one that was sent as text. What is neither is not known. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && !Number.isNaN(number) ? number : undefined
}
