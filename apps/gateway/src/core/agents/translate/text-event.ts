import type { ChatEvent } from '#core/agents/events.ts'
import { type Reading, readMessage } from './replies/message-shape.ts'

/**
 * Returns the events of a text or of its parts, or nothing for an empty text, which platforms send as a heartbeat. Parts of a
 * text may be reasoning.
 */
export function textEvent(type: 'text' | 'reasoning', value: unknown): readonly ChatEvent[] {
  if (typeof value === 'string') return value === '' ? [] : [{ type, text: value }]
  if (typeof value !== 'object' || value === null) return []
  const reading: Reading = { events: [], calls: [], isUnread: false }
  readMessage({ [type === 'text' ? 'content' : 'reasoning']: value }, reading)
  return reading.events
}
