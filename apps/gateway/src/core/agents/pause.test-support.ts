import type { ChatEvent } from './events.ts'

/** A pause that offers options, whose ids are their titles, and takes any text. */
export function pauseEvent(
  question: string,
  options: readonly string[] = [],
): Extract<ChatEvent, { type: 'pause' }> {
  const offered = options.map((option) => ({ id: option, title: option }))
  return { type: 'pause', pause: { question, options: offered, fields: [], takesText: true } }
}
