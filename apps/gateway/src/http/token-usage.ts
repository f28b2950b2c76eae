import Type from 'typebox'
import type { TokenCounts } from '#core/agents/events.ts'

export const TokenUsageSchema = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
  },
  {
    $id: 'TokenUsage',
    description: 'As the platform reported it; absent where it did not.',
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
