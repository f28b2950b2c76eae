import type { Problem } from '#core/base/errors/errors.ts'
import type { CallFace } from '#core/ledger/call-kinds.ts'
import { openAiError } from '../response/openai-error.ts'

/**
 * The last event of a kept stream that cannot be written by the encoder of its call, whose process has died or is another one.
 *
 * @param number - that of the event; the events of a response count from 0, those of a log from 1
 */
export function failureFrame(face: CallFace, problem: Problem, number: number): string {
  const body = openAiError(problem)
  const { message, code, param } = body.error
  const event =
    face === 'responses'
      ? `event: error\ndata: ${JSON.stringify({ type: 'error', sequence_number: number - 1, code, message, param, ...body })}`
      : `data: ${JSON.stringify(body)}`
  return `${event}\nid: ${number}\n\n`
}
