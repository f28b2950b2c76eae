import type { ChatEvent, DetailEvent } from '#core/agents/events.ts'
import { detail, StepFields } from '#core/agents/translate/detail-event.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { type JsonObject, objectOf } from '#core/base/values/json.ts'

/**
 * Leaves out inputs, outputs and process data of nodes, because they contain prompts and quoted knowledge.
 */
export function progress(frame: JsonObject, data: JsonObject): readonly ChatEvent[] {
  const { event } = frame
  switch (event) {
    case 'node_started':
    case 'node_finished':
      return [
        detail(data, (step) => ({
          type: event,
          ...nodeOf(step),
          name: step.text('title'),
          data: { node_type: step.text('node_type') },
        })),
      ]
    case 'agent_thought':
      return [thought(frame)]
    case 'reasoning_chunk':
      return textEvent('reasoning', data.reasoning)
    case 'agent_log':
      return agentLog(data)
    case 'workflow_started':
    case 'node_retry':
    case 'iteration_started':
    case 'iteration_next':
    case 'iteration_completed':
    case 'loop_started':
    case 'loop_next':
    case 'loop_completed':
    case 'human_input_form_filled':
    case 'human_input_form_timeout':
      return [detail(data, (step) => ({ type: 'other', ...nodeOf(step), name: event, data: {} }))]
    default:
      return []
  }
}

/** What agent nodes log: since Dify 1.18 their tools and thoughts, in which a call and its result have the same id. */
function agentLog(log: JsonObject): readonly ChatEvent[] {
  const own = objectOf(log.data)
  const { kind } = objectOf(log.metadata)
  if (kind === 'reasoning') return textEvent('reasoning', own.thought)
  const common = (step: StepFields) => ({ id: step.text('id'), status: step.text('status') })
  if (kind !== 'tool' && kind !== 'builtin_tool')
    return [detail(log, (step) => ({ type: 'other', ...common(step), name: step.text('label'), data: {} }))]
  const isResult = log.status !== 'start'
  return [
    detail({ ...own, id: log.id, status: log.status, label: log.label }, (step) => {
      const name = step.text('tool_name') ?? step.text('label')
      const input = step.jsonText('tool_input')
      if (!isResult) return { type: 'tool_call', ...common(step), name, data: { arguments: input } }
      const output = step.jsonText('observation') ?? step.jsonText('output') ?? ''
      return { type: 'tool_result', ...common(step), name, data: { arguments: input, output } }
    }),
  ]
}

function nodeOf(step: StepFields) {
  return {
    id: step.text('node_id'),
    status: step.text('status'),
    elapsed_ms: step.milliseconds('elapsed_time'),
  }
}

/** The same id arrives two or three times: empty, then with the tool, then with the tool's result. */
function thought(frame: JsonObject): ChatEvent {
  return detail(frame, (step) => {
    const id = step.text('id')
    const name = step.text('tool')
    if (name === undefined) return { type: 'thought', id, data: { text: step.text('thought') ?? '' } }
    const output = step.text('observation')
    const input = step.jsonText('tool_input')
    return output === undefined
      ? { type: 'tool_call', id, name, data: { arguments: input } }
      : { type: 'tool_result', id, name, data: { arguments: input, output } }
  })
}

export function replace(text: unknown, frame: JsonObject): readonly ChatEvent[] {
  if (typeof text !== 'string') return []
  const replaced = (): DetailEvent<'replaced'> => {
    const step = new StepFields(frame)
    return {
      type: 'replaced',
      status: step.text('reason'),
      data: { text: text.toWellFormed() },
      raw: step.raw,
    }
  }
  return [{ type: 'replace', text, detail: replaced }]
}

export function sources(metadata: JsonObject): ChatEvent {
  const names = { title: 'document_name', text: 'content', document: 'document_id' }
  return detail(metadata, (step) => ({
    type: 'sources',
    data: { items: step.sources('retriever_resources', names) },
  }))
}
