import type { ChatEvent } from '#core/agents/events.ts'
import { textOf } from '#core/values/json.ts'

/** Returns a text or reasoning event, or nothing for an empty text, which platforms send as a heartbeat. */
export function textEvent(type: 'text' | 'reasoning', value: unknown): readonly ChatEvent[] {
  const text = textOf(value)
  return text === undefined ? [] : [{ type, text }]
}
