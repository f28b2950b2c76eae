import type { ChatEvent, FinishReason } from '#core/agents/events.ts'
import { errorEvents, failureOf } from '#core/agents/translate/failure.ts'
import { objectOf, textOf } from '#core/base/values/json.ts'

/**
 * What a word for the end of a reply means. `failed` and `stopped` are no ends of a whole answer; `none` is a word that servers
 * send while the answer goes on.
 */
export type FinishMeaning = FinishReason | 'failed' | 'stopped' | 'none'

/** The words that servers use, each with a place where it is documented or defined. Case and separators do not matter. */
export const FINISH_WORDS: readonly (readonly [word: string, meaning: FinishMeaning, source: string])[] = [
  ['stop', 'stop', 'OpenAI, API reference: chat completion object'],
  ['eos', 'stop', 'Together AI, API reference: chat completions; llama.cpp, server README: stop_type'],
  ['word', 'stop', 'llama.cpp, server README: stop_type'],
  ['eos_token', 'stop', 'Hugging Face TGI, FinishReason; IBM watsonx.ai, text generation'],
  ['stop_sequence', 'stop', 'Anthropic, Messages API; Hugging Face TGI, FinishReason'],
  ['end_turn', 'stop', 'Anthropic, Messages API; Amazon Bedrock, Converse'],
  ['complete', 'stop', 'Cohere, Chat API'],
  ['completed', 'stop', 'OpenAI, Responses API: status; Coze, chat status'],
  ['normal', 'stop', 'Baidu Qianfan, chat API'],
  ['succeeded', 'stop', 'Dify, workflow status'],
  ['partial-succeeded', 'stop', 'Dify, workflow status'],
  ['FINISH_REASON_UNSPECIFIED', 'stop', 'Google Vertex AI, FinishReason'],
  ['load', 'stop', 'Ollama, API: done_reason'],
  ['unload', 'stop', 'Ollama, API: done_reason'],

  ['length', 'length', 'OpenAI, API reference: chat completion object'],
  ['limit', 'length', 'llama.cpp, server README: stop_type'],
  ['max_tokens', 'length', 'Anthropic, Messages API; Cohere; Google Vertex AI'],
  ['max_output_tokens', 'length', 'OpenAI, Responses API: incomplete_details'],
  ['incomplete', 'length', 'OpenAI, Responses API: status'],
  ['model_length', 'length', 'Mistral, chat completion API'],
  ['model_context_window_exceeded', 'length', 'Anthropic, Messages API; Zhipu, chat completions'],
  ['pause_turn', 'length', 'Anthropic, Messages API'],
  ['max_output', 'length', 'MiniMax, text chat API'],
  ['ERROR_LIMIT', 'length', 'Cohere, Chat API v1'],
  ['TOKEN_LIMIT', 'length', 'IBM watsonx.ai, text generation'],
  ['TIME_LIMIT', 'length', 'IBM watsonx.ai, text generation'],

  ['content_filter', 'content_filter', 'OpenAI, API reference: chat completion object'],
  ['content_filtered', 'content_filter', 'Amazon Bedrock, Converse'],
  ['guardrail_intervened', 'content_filter', 'Amazon Bedrock, Converse'],
  ['sensitive', 'content_filter', 'Zhipu, chat completions'],
  ['refusal', 'content_filter', 'Anthropic, Messages API'],
  ['ERROR_TOXIC', 'content_filter', 'Cohere, Chat API v1'],
  ['SAFETY', 'content_filter', 'Google Vertex AI, FinishReason'],
  ['RECITATION', 'content_filter', 'Google Vertex AI, FinishReason'],
  ['LANGUAGE', 'content_filter', 'Google Gemini API, FinishReason'],
  ['BLOCKLIST', 'content_filter', 'Google Vertex AI, FinishReason'],
  ['PROHIBITED_CONTENT', 'content_filter', 'Google Vertex AI, FinishReason'],
  ['SPII', 'content_filter', 'Google Vertex AI, FinishReason'],
  ['MODEL_ARMOR', 'content_filter', 'Google Vertex AI, FinishReason'],
  ['IMAGE_SAFETY', 'content_filter', 'Google Gemini API, FinishReason'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter', 'Google Gemini API, FinishReason'],
  ['IMAGE_RECITATION', 'content_filter', 'Google Gemini API, FinishReason'],

  ['tool_calls', 'tool_calls', 'OpenAI, API reference: chat completion object'],
  ['function_call', 'tool_calls', 'OpenAI, API reference: chat completion object'],
  ['tool_call', 'tool_calls', 'Cohere, Chat API v2'],
  ['tool_use', 'tool_calls', 'Anthropic, Messages API; Amazon Bedrock, Converse'],

  ['error', 'failed', 'Mistral, chat completion API; OpenRouter, streaming errors; FastGPT, finish reasons'],
  ['failed', 'failed', 'Dify, workflow status; Coze, chat status'],
  ['exception', 'failed', 'Dify, node status'],
  ['expired', 'failed', 'Coze, chat status'],
  ['abort', 'failed', 'vLLM, RequestStatus; SGLang, FINISH_ABORT'],
  ['network_error', 'failed', 'Zhipu, chat completions'],
  ['insufficient_system_resource', 'failed', 'DeepSeek, API reference: chat completion'],
  ['malformed_model_output', 'failed', 'Amazon Bedrock, Converse'],
  ['malformed_tool_use', 'failed', 'Amazon Bedrock, Converse'],
  ['MALFORMED_FUNCTION_CALL', 'failed', 'Google Vertex AI, FinishReason'],
  ['UNEXPECTED_TOOL_CALL', 'failed', 'Google Gemini API, FinishReason'],
  ['TOO_MANY_TOOL_CALLS', 'failed', 'Google Gemini API, FinishReason'],
  ['MALFORMED_RESPONSE', 'failed', 'Google Gemini API, FinishReason'],
  ['MISSING_THOUGHT_SIGNATURE', 'failed', 'Google Gemini API, FinishReason'],
  ['NO_IMAGE', 'failed', 'Google Gemini API, FinishReason'],

  ['stopped', 'stopped', 'Dify, workflow status'],
  ['canceled', 'stopped', 'Coze, chat status'],
  ['cancelled', 'stopped', 'IBM watsonx.ai, text generation'],
  ['cancel', 'stopped', 'lllms, CompletionFinishReason'],
  ['USER_CANCEL', 'stopped', 'Cohere, Chat API v1'],
  ['interrupted', 'stopped', 'HiAgent, interrupted event'],
  ['close', 'stopped', 'FastGPT, finish reasons'],

  ['null', 'none', 'Alibaba DashScope, text generation: while the answer goes on'],
  ['not_finished', 'none', 'IBM watsonx.ai, text generation'],
]

/** By the words as they are in the table, and without regard to case and separators. */
const MEANINGS = new Map(
  FINISH_WORDS.flatMap(([word, meaning]) => [
    [word, meaning],
    [keyOf(word), meaning],
  ]),
)

/** Of words that the table does not have. */
const FAILED_PART = /error|fail|abort|timeout/
const STOPPED_PART = /stopped|cancel|interrupt|close|disconnect/

/** The longest word that is shown to operators. */
const WORD_CHARACTERS_MAX = 40

/** What a word means for the answer that it ends; undefined for one that neither the table nor a rule has. */
function meaningOf(word: string): FinishMeaning | undefined {
  const known = MEANINGS.get(word)
  if (known !== undefined) return known
  const key = keyOf(word)
  const part = FAILED_PART.test(key) ? 'failed' : STOPPED_PART.test(key) ? 'stopped' : undefined
  return MEANINGS.get(key) ?? part
}

/** What a word means; one that is not known ends a whole answer. */
export function finishMeaning(word: string): FinishMeaning {
  return meaningOf(word) ?? 'stop'
}

/** The word for the end that an object of a reply carries, under the names of several servers; undefined if it has none. */
export function finishWordIn(frame: Readonly<Record<string, unknown>>): string | undefined {
  const { finish_reason: reason } = frame
  if (typeof reason === 'string') return textOf(reason)
  // SGLang's own API sends an object; servers of OpenAI have sent one beside an empty reason.
  return (
    textOf(objectOf(reason).type) ??
    textOf(frame.finishReason) ??
    textOf(frame.FinishReason) ??
    textOf(objectOf(frame.finish_details).type) ??
    // vLLM sends under this name the stop sequence that was met, beside a reason.
    textOf(frame.stop_reason) ??
    textOf(frame.done_reason)
  )
}

/**
 * The events of a reported end: an `end`, or the failure that the word stands for. Nothing for a word that is sent while the
 * answer goes on.
 */
export function endEvents(word: string): readonly ChatEvent[] {
  const meaning = meaningOf(word)
  switch (meaning) {
    case undefined:
      return [{ type: 'end', reason: 'stop', unknownWord: keyOf(word).slice(0, WORD_CHARACTERS_MAX) }]
    case 'none':
      return []
    case 'failed':
    case 'stopped':
      return endFailure(meaning, word)
    default:
      return [{ type: 'end', reason: meaning }]
  }
}

/** The failure of a run that did not end by itself. */
export function endFailure(meaning: 'failed' | 'stopped', code: string): readonly ChatEvent[] {
  return errorEvents(failureOf(meaning === 'failed' ? 'agent_error' : 'agent_truncated', { code }))
}

function keyOf(word: string): string {
  return word.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
}
