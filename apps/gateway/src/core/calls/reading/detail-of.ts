import type { ChatEvent, DetailEvent } from '#core/agents/events.ts'
import { StepFields } from '#core/agents/translate/detail-event.ts'
import { isObject, objectOf } from '#core/base/values/json.ts'

/** The event as progress details, which clients request with `detail`; none for events that are no detail. */
export function detailsOf(event: ChatEvent): readonly DetailEvent[] {
  switch (event.type) {
    case 'detail':
      return [event.detail()]
    case 'reasoning':
      return [{ type: 'reasoning', data: { text: event.text } }]
    case 'replace':
      return [event.detail?.() ?? { type: 'replaced', data: { text: event.text } }]
    case 'file': {
      if (event.offered === undefined) return []
      const { url, type, name, media_type } = event.offered
      return [{ type: 'file', name, data: { type, url, media_type } }]
    }
    case 'tool_calls':
      return event.delta.map(toolCallOf)
    default:
      return []
  }
}

/** A piece of a call in OpenAI's form. Only the first piece has the id; `raw.index` says to which call the others belong. */
function toolCallOf(piece: unknown): DetailEvent<'tool_call'> {
  const { function: called, ...call } = objectOf(piece)
  const step = new StepFields({ ...call, ...objectOf(called) })
  const id = step.text('id')
  const name = step.text('name')
  const arguments_delta = step.text('arguments')
  step.keepAll()
  if (!isObject(piece)) step.put('tool_call', piece)
  else if (!isObject(called)) step.put('function', called)
  return { type: 'tool_call', id, name, data: { arguments_delta }, raw: step.raw }
}
