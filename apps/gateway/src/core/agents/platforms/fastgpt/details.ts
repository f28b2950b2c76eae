import type { ChatEvent } from '#core/agents/events.ts'
import type { PauseField } from '#core/agents/pause.ts'
import { detail } from '#core/agents/translate/detail-event.ts'
import { errorEvents, failureOf } from '#core/agents/translate/failure.ts'
import { pauseEvents } from '#core/agents/translate/replies/pause-events.ts'
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
export function interaction(
  outermost: JsonObject,
  { wholeNodes, answerId }: { readonly wholeNodes: boolean; readonly answerId?: string },
): readonly ChatEvent[] {
  let pause = outermost
  let params = objectOf(pause.params)
  while (isObject(params.childrenResponse)) {
    pause = params.childrenResponse
    params = objectOf(pause.params)
  }
  // The points of the team are used up, and nothing that a user says changes that.
  if (pause.type === 'paymentPause') return errorEvents(failureOf('agent_quota', { code: 'paymentPause' }))
  // The questions of an agent's plan have plain texts.
  const options = [...listOf(params.userSelectOptions), ...listOf(params.options)]
    .map((option) => textOf(option) ?? textOf(objectOf(option).value))
    .filter((option) => option !== undefined)
    .map((option) => ({ id: option, title: option }))
  const fields = listOf(params.inputForm).flatMap((field) => formField(objectOf(field)))
  return pauseEvents(
    {
      question: textOf(params.description) ?? textOf(params.content) ?? '',
      options,
      fields,
      takesText: true,
      ...(answerId !== undefined && { resume: { answerId } }),
    },
    detail({ ...params, type: pause.type }, (step) => {
      const question = step.text('description') ?? step.text('content')
      const form = step.list('inputForm')
      const name = step.text('type')
      // A pause also carries edges and node outputs, which are internal to the workflow.
      if (wholeNodes) step.put('interactive', outermost)
      // The options have keys beside their values.
      else step.keepAll()
      return { type: 'interaction', name, data: { question, options: options.map(({ id }) => id), form } }
    }),
  )
}

/** The kinds of inputs whose values are other than one line of text. Kinds that are not known are text. */
const FIELD_TYPES: Readonly<Record<string, PauseField['type']>> = {
  textarea: 'paragraph',
  numberInput: 'number',
  select: 'select',
  switch: 'checkbox',
  fileSelect: 'file-list',
}

/** The keys of the answer are those of the fields; releases whose fields have none take the labels. */
function formField(field: JsonObject): readonly PauseField[] {
  const label = textOf(field.label)
  const name = textOf(field.key) ?? label
  if (name === undefined) return []
  const options = listOf(field.list).flatMap((each) => textOf(objectOf(each).value) ?? [])
  const preset = field.defaultValue
  return [
    {
      name,
      ...(label !== undefined && { label }),
      type: FIELD_TYPES[textOf(field.type) ?? ''] ?? 'text',
      required: field.required === true,
      ...(options.length > 0 && { options }),
      ...(preset !== undefined && preset !== null && preset !== '' && { default: preset }),
    },
  ]
}
