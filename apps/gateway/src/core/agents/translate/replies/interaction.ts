import type { ChatEvent } from '#core/agents/events.ts'
import { errorEvents, failureOf } from '#core/agents/translate/failure.ts'

/** A pause without a question and without answers to choose from asks nothing that anybody could answer. */
export const EMPTY_PAUSE = errorEvents(failureOf('agent_requires_action', { code: 'empty_pause' }))

/** The events of a pause, which fails the reply if there is nothing in it. */
export function interactionEvents(
  question: string,
  options: readonly string[],
  detail: ChatEvent,
): readonly ChatEvent[] {
  const isEmpty = question.trim() === '' && options.every((option) => option.trim() === '')
  return isEmpty ? EMPTY_PAUSE : [{ type: 'interaction', question, options }, detail]
}
