import type { ChatEvent } from '#core/agents/events.ts'
import { ReplyText } from '#core/calls/reading/reply-text.ts'

/**
 * Collects the text of a reply for the next turn. Collecting stops one character beyond the longest turn that is ever sent
 * again: this bounds the memory of an endless reply, and the length still shows that the reply was too long.
 */
export class StoredAnswer {
  readonly #charactersMax: number
  readonly #replyText = new ReplyText()
  #text = ''

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax
  }

  get text(): string {
    return this.#text
  }

  add(event: ChatEvent): void {
    const text = this.#replyText.add(event)
    if (event.type === 'replace') this.#text = ''
    const room = this.#charactersMax + 1 - this.#text.length
    if (room > 0) this.#text += (event.type === 'replace' ? event.text : text).slice(0, room)
  }
}
