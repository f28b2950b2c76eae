import type { ChatEvent } from '#core/agents/events.ts'
import { ReplyText } from './reply-text.ts'

/**
 * The answer of one reply, as it is kept for the next turn. It stops growing one character beyond what could ever be sent
 * again, so that a reply without end holds no memory and its length still tells that it was too long.
 */
export class KeptAnswer {
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
