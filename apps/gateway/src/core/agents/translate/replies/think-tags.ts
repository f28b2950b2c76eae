import type { ChatEvent } from '#core/agents/events.ts'

const OPENING = '<think>'
const CLOSING = '</think>'

/**
 * Turns what stands between `<think>` and `</think>` at the beginning of a text into reasoning. Only where the operator says so,
 * since a text may speak of these tags.
 */
export class ThinkTags {
  #place: 'before' | 'within' | 'behind' | 'over' = 'before'
  /** The text whose meaning depends on what follows: white space, or what may be the beginning of a tag. */
  #held = ''
  /** Its end that may be the beginning of a tag. What is held before it may be long, and is not read again. */
  #begun = ''

  take(event: ChatEvent): readonly ChatEvent[] {
    switch (event.type) {
      case 'text':
        return this.#place === 'over' ? [event] : this.#text(event.text)
      case 'replace': {
        const tags = new ThinkTags()
        const parts = [...tags.take({ type: 'text', text: event.text }), ...tags.end()]
        const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
        return [...parts.filter(({ type }) => type === 'reasoning'), { ...event, text }]
      }
      default:
        return [event]
    }
  }

  /** What is still held back when the response has ended. */
  end(): readonly ChatEvent[] {
    const held = this.#held
    this.#held = ''
    if (held === '' || this.#place === 'behind') return []
    return [{ type: this.#place === 'within' ? 'reasoning' : 'text', text: held }]
  }

  #text(piece: string): readonly ChatEvent[] {
    const held = this.#held
    this.#held = ''
    switch (this.#place) {
      case 'before':
        return this.#before(held, piece)
      case 'within':
        return this.#within(held + piece)
      case 'behind':
        return this.#behind(held, piece)
      default:
        return [{ type: 'text', text: piece }]
    }
  }

  #before(held: string, piece: string): readonly ChatEvent[] {
    const begun = this.#begun === '' ? piece.trimStart() : this.#begun + piece
    if (begun.startsWith(OPENING)) {
      this.#place = 'within'
      return this.#within(begun.slice(OPENING.length))
    }
    if (OPENING.startsWith(begun)) {
      this.#held = held + piece
      this.#begun = begun
      return []
    }
    this.#place = 'over'
    return [{ type: 'text', text: held + piece }]
  }

  #within(text: string): readonly ChatEvent[] {
    const at = text.indexOf(CLOSING)
    if (at >= 0) {
      this.#place = 'behind'
      return [...reasoning(text.slice(0, at)), ...this.#behind('', text.slice(at + CLOSING.length))]
    }
    const whole = text.length - lengthOfBegunTag(text)
    this.#held = text.slice(whole)
    return reasoning(text.slice(0, whole))
  }

  /** White space alone is no answer. */
  #behind(held: string, piece: string): readonly ChatEvent[] {
    if (piece.trimStart() === '') {
      this.#held = held + piece
      return []
    }
    this.#place = 'over'
    return [{ type: 'text', text: held + piece }]
  }
}

function reasoning(text: string): readonly ChatEvent[] {
  return text === '' ? [] : [{ type: 'reasoning', text }]
}

/** How many characters at the end of the text may be the beginning of the closing tag. */
function lengthOfBegunTag(text: string): number {
  for (let length = Math.min(CLOSING.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(CLOSING.slice(0, length))) return length
  return 0
}
