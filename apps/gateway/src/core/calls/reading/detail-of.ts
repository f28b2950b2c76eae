import type { ChatEvent, DetailEvent } from '#core/agents/events.ts'

/** The event as a progress detail, which clients request with `detail`; undefined for events that are no detail. */
export function detailOf(event: ChatEvent): DetailEvent | undefined {
  switch (event.type) {
    case 'detail':
      return event.detail
    case 'reasoning':
      return { type: 'reasoning', data: { text: event.text } }
    case 'replace':
      return { type: 'replaced', data: { text: event.text } }
    case 'tool_calls':
      return { type: 'tool_call', data: event.delta }
    default:
      return undefined
  }
}
