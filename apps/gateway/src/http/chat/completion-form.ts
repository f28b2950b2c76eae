import Type from 'typebox'
import type { ChatEvent, TokenCounts } from '#core/agents/events.ts'
import type { Problem } from '#core/base/errors/errors.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'

/** Encodes events as the text of a stream. It has state, so each stream needs an encoder of its own. */
export interface ChunkEncoder {
  /** Returns the empty string if this client does not get the event. */
  encode(event: ChatEvent): string
  fail(problem: Problem): string
}

/** The JSON of a chunk up to its choices, which stays the same until the platform names another model. */
export function chunkHead(id: string, { created }: ChatHead, model: string): string {
  const fields = JSON.stringify({ id, object: 'chat.completion.chunk', created, model })
  return `data: ${fields.slice(0, -1)},"choices":[`
}

export const TokenUsageSchema = Type.Object(
  {
    prompt_tokens: Type.Integer({ description: 'The tokens of the input.' }),
    completion_tokens: Type.Integer({ description: 'The tokens of the reply.' }),
    total_tokens: Type.Integer({ description: 'The tokens of both.' }),
  },
  {
    $id: 'TokenUsage',
    description: 'The tokens of the call as the platform reported them; absent where it reported none.',
    examples: [{ prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }],
  },
)

export interface TokenUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}

export function tokenUsage(usage: TokenCounts): TokenUsage {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
  }
}
