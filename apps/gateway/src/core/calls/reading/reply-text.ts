import type { ChatEvent } from '#core/agents/events.ts'

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
      case 'interaction':
        return this.#paragraph(
          [event.question, event.options.map((option) => `- ${option}`).join('\n')]
            .filter((part) => part !== '')
            .join('\n\n'),
        )
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
