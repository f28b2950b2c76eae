import type { ChatEvent } from '#core/agents/events.ts'
import { textOfPause } from '#core/agents/pause.ts'

/**
 * The text that a question or a replacement adds to a reply, the same for every face: a paragraph of its own. A question is followed
 * by its options, and a text that replaces an earlier one follows it, because the earlier one has already been sent.
 *
 * @param hasText - whether the reply has a text before it
 */
export function paragraphOf(
  event: Extract<ChatEvent, { type: 'replace' | 'pause' }>,
  hasText: boolean,
): string {
  const text = event.type === 'replace' ? event.text : textOfPause(event.pause)
  return (hasText ? '\n\n' : '') + text
}
