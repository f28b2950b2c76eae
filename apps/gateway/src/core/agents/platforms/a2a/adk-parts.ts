import type { ChatEvent } from '#core/agents/events.ts'
import type { Pause } from '#core/agents/pause.ts'
import { detail } from '#core/agents/translate/detail-event.ts'
import { idOf } from '#core/agents/translate/platform-id.ts'
import { type JsonObject, objectOf, textOf, toJson } from '#core/base/values/json.ts'

/*
 * What Google's ADK marks in the metadata of parts (google/adk-python, a2a/converters/part_converter.py): the thoughts of a model, and
 * the calls of its tools. None of them is an answer.
 */

/** Whether a part is what a model has thought. */
export function isThought({ metadata }: JsonObject): boolean {
  return objectOf(metadata).adk_thought === true
}

/** A call of a function, its result, or code and what became of it. */
export interface AdkStep {
  readonly kind: string
  readonly data: JsonObject
  /** Whether the agent waits for the result of the call. */
  readonly isLongRunning: boolean
}

const KINDS: ReadonlySet<unknown> = new Set([
  'function_call',
  'function_response',
  'executable_code',
  'code_execution_result',
])

export function adkStepOf({ data, metadata }: JsonObject): AdkStep | undefined {
  const { adk_type: kind, adk_is_long_running } = objectOf(metadata)
  if (typeof kind !== 'string' || !KINDS.has(kind)) return undefined
  return { kind, data: objectOf(data), isLongRunning: adk_is_long_running === true }
}

/** A step as a detail of the tool that it is about. */
export function adkStepEvent({ kind, data }: AdkStep): ChatEvent {
  switch (kind) {
    case 'function_call':
      return detail(data, (step) => ({
        type: 'tool_call',
        id: step.text('id'),
        name: step.text('name'),
        data: { arguments: step.jsonText('args') },
      }))
    case 'function_response':
      return detail(data, (step) => ({
        type: 'tool_result',
        id: step.text('id'),
        name: step.text('name'),
        data: { output: step.jsonText('response') ?? '' },
      }))
    case 'executable_code':
      return detail(data, (step) => ({
        type: 'tool_call',
        name: kind,
        data: { arguments: step.text('code') },
      }))
    default:
      return detail(data, (step) => ({
        type: 'tool_result',
        name: kind,
        status: step.text('outcome'),
        data: { output: step.text('output') ?? '' },
      }))
  }
}

/** The tool by which ADK asks whether another tool may be called. */
const CONFIRMATION = 'adk_request_confirmation'

type Question = Pick<Pause, 'question' | 'options' | 'takesText'> & { readonly resume: JsonObject }

/** What a call that waits for its result asks the user. */
export function adkQuestionOf({ data }: AdkStep): Question {
  const { name: called, args } = data
  const id = idOf(data.id) ?? ''
  const name = textOf(called) ?? ''
  if (name !== CONFIRMATION) {
    return { question: callText(name, args), options: [], takesText: true, resume: { adk: { id, name } } }
  }
  const { originalFunctionCall, toolConfirmation } = objectOf(args)
  const original = objectOf(originalFunctionCall)
  const hint = textOf(objectOf(toolConfirmation).hint)
  const call = callText(textOf(original.name) ?? '', original.args)
  return {
    question: [hint, call].filter((each) => each !== undefined && each !== '').join('\n\n'),
    options: [
      { id: 'approve', title: 'approve' },
      { id: 'reject', title: 'reject' },
    ],
    takesText: false,
    resume: { adk: { id, name } },
  }
}

function callText(name: string, args: unknown): string {
  return `${name} ${toJson(args ?? {}) ?? ''}`.trim()
}

/**
 * The result of a call that waited, as ADK reads it.
 *
 * @param given - what the user has said, as JSON
 */
export function adkAnswer(call: JsonObject, option: string | undefined, given: unknown): object {
  const { id, name } = call
  const response =
    name === CONFIRMATION
      ? { confirmed: option === 'approve' }
      : typeof given === 'object' && given !== null && !Array.isArray(given)
        ? given
        : { result: given }
  return { id, name, response }
}
