import Type from 'typebox'
import type { TokenCounts } from '#core/agents/events.ts'

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
