import type { ChatEvent } from '#core/agents/events.ts'
import { textOf } from './json.ts'

/** A text or reasoning event, or nothing: heartbeats are frames with an empty text. */
export function textEvent(type: 'text' | 'reasoning', value: unknown): readonly ChatEvent[] {
  const text = textOf(value)
  return text === undefined ? [] : [{ type, text }]
}
