import type { ChatEvent } from '#core/agents/events.ts'
import type { Pause } from '#core/agents/pause.ts'
import { errorEvents, failureOf } from '#core/agents/translate/failure.ts'

/** A pause without a question and without answers to choose from asks nothing that anybody could answer. */
export const EMPTY_PAUSE = errorEvents(failureOf('agent_requires_action', { code: 'empty_pause' }))

/** The events of a pause, which fails the reply if there is nothing in it. */
export function pauseEvents(pause: Pause, detail: ChatEvent): readonly ChatEvent[] {
  const { question, options, fields } = pause
  const isEmpty =
    question.trim() === '' && options.every(({ title }) => title.trim() === '') && fields.length === 0
  return isEmpty ? EMPTY_PAUSE : [{ type: 'pause', pause }, detail]
}
