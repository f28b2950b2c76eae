import type { ChatEvent } from '#core/agents/events.ts'
import { textOfPause } from '#core/agents/pause.ts'

/**
 * The text that an event adds to a reply, the same for every face. A question is followed by its options, and a text that
 * replaces an earlier one follows it as a new paragraph, because the earlier one has already been sent.
 */
export class ReplyText {
  #hasText = false

  /** Returns the text that the event adds, or an empty string. */
  add(event: ChatEvent): string {
    switch (event.type) {
      case 'text':
        this.#hasText = true
        return event.text
      case 'replace':
        return this.#paragraph(event.text)
      case 'pause':
        return this.#paragraph(textOfPause(event.pause))
      default:
        return ''
    }
  }

  #paragraph(text: string): string {
    const separator = this.#hasText ? '\n\n' : ''
    this.#hasText = true
    return separator + text
  }
}
