import type { ChatEvent } from '#core/agents/events.ts'
import { countOf } from '#core/values/json.ts'

/** Returns a usage event, or nothing if counts are missing or zero, which platforms send for "unknown". */
export function usage(prompt: unknown, completion: unknown, total?: unknown): readonly ChatEvent[] {
  const promptTokens = countOf(prompt)
  const completionTokens = countOf(completion)
  if (promptTokens === undefined || completionTokens === undefined) return []
  const totalTokens = countOf(total) || promptTokens + completionTokens
  return totalTokens === 0 ? [] : [{ type: 'usage', usage: { promptTokens, completionTokens, totalTokens } }]
}
