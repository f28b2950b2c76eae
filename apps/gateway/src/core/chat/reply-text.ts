import type { ChatEvent } from '#core/agents/events.ts'

/**
 * The text that an event adds to a reply, the same for every face: a question shows its options, and a text that the
 * platform replaced stands after what was already sent.
 */
export class ReplyText {
  #hasText = false

  /** Empty where the event adds none. */
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
