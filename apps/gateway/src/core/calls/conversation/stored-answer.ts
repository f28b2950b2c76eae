import type { ChatEvent } from '#core/agents/events.ts'
import { textOfPause } from '#core/agents/pause.ts'

/**
 * Collects the text of a reply for the next turn. Collecting stops one character beyond the longest turn that is ever sent
 * again: this bounds the memory of an endless reply, and the length still shows that the reply was too long.
 */
export class StoredAnswer {
  text = ''
  readonly #charactersMax: number

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax
  }

  add(event: ChatEvent): void {
    if (event.type === 'text') this.#append(event.text)
    else if (event.type === 'pause') this.#append((this.text === '' ? '' : '\n\n') + textOfPause(event.pause))
    else if (event.type === 'replace') {
      this.text = ''
      this.#append(event.text)
    }
  }

  #append(text: string): void {
    const room = this.#charactersMax + 1 - this.text.length
    if (room > 0) this.text += text.slice(0, room)
  }
}
