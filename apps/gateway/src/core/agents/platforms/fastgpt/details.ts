import type { ChatEvent } from '#core/agents/events.ts'
import { detail } from '#core/agents/translate/detail-event.ts'
import { interactionEvents } from '#core/agents/translate/replies/interaction.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'

/** `toolParams` events are pieces that clients join by the tool's id. */
export function toolDetail(event: 'toolCall' | 'toolParams' | 'toolResponse', tool: JsonObject): ChatEvent {
  return detail(tool, (step) => {
    const common = { id: step.text('id'), name: step.text('toolName') }
    switch (event) {
      case 'toolCall':
        step.keep('functionName')
        return { type: 'tool_call', ...common, data: { arguments: step.jsonText('params') } }
      case 'toolParams':
        return { type: 'tool_call', ...common, data: { arguments_delta: step.text('params') } }
      case 'toolResponse': {
        const output = step.text('response') ?? ''
        return { type: 'tool_result', ...common, data: { arguments: step.jsonText('params'), output } }
      }
    }
  })
}

export function variables(frame: JsonObject, name: string): ChatEvent {
  return detail(frame, (step) => ({ type: 'variables', data: { values: step.object(name) } }))
}

/** A pause may come from a node inside a child app or a loop; the innermost one contains the question. */
export function interaction(outermost: JsonObject, wholeNodes: boolean): readonly ChatEvent[] {
  let pause = outermost
  let params = objectOf(pause.params)
  while (isObject(params.childrenResponse)) {
    pause = params.childrenResponse
    params = objectOf(pause.params)
  }
  const options = listOf(params.userSelectOptions)
    .map((option) => objectOf(option).value)
    .filter((option) => typeof option === 'string')
  const labels = listOf(params.inputForm)
    .map((field) => objectOf(field).label)
    .filter((label) => typeof label === 'string')
  return interactionEvents(
    textOf(params.description) ?? textOf(params.content) ?? '',
    [...options, ...labels],
    detail({ ...params, type: pause.type }, (step) => {
      const question = step.text('description') ?? step.text('content')
      const form = step.list('inputForm')
      const name = step.text('type')
      // A pause also carries edges and node outputs, which are internal to the workflow.
      if (wholeNodes) step.put('interactive', outermost)
      // The options have keys beside their values.
      else step.keepAll()
      return { type: 'interaction', name, data: { question, options, form } }
    }),
  )
}
