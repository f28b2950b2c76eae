import type { FinishReason } from '#core/agents/events.ts'

const KNOWN: ReadonlyMap<string, FinishReason> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['content_filter', 'content_filter'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
])

/**
 * Maps OpenAI's finish reasons and their common variants; any other (`eos`, `end_turn`) is an ordinary end.
 */
export function finishReason(word: string): FinishReason {
  return KNOWN.get(word) ?? 'stop'
}
