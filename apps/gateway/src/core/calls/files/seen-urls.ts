/** The most URLs of one reply that are remembered. */
const URLS_MAX = 500
/** The longest URL that is remembered as a whole. */
const CHARACTERS_MAX = 2_048
/** What may precede the first slash of a URL. */
export const SCHEME_CHARACTERS = 8

const DELIMITER = /[\s"'<>()[\]]/
const DELIMITERS = /[\s"'<>()[\]]+/

/**
 * Which URLs a text contains that comes in pieces. It keeps no text, since most replies have no URL and many streams are open at
 * once: only what may be the beginning of one, and the URLs themselves. Its work is linear in the text, whatever a platform sends.
 */
export class SeenUrls {
  #urls: Set<string> | undefined
  /** The end of the text so far that may belong to a URL. */
  #tail = ''
  /** Whether there is a slash in it, as a URL has one. */
  #hasSlash = false
  /** Whether the text is within a word that is too long to be a URL. */
  #isTooLong = false

  add(piece: string): void {
    let rest = piece
    if (this.#isTooLong) {
      const end = rest.search(DELIMITER)
      if (end === -1) return
      this.#isTooLong = false
      rest = rest.slice(end)
    }
    const text = this.#tail + rest
    // A word goes on. It may come in single characters, so what has come of it is not read again.
    if (this.#hasSlash && !DELIMITER.test(rest)) {
      this.#goOn(text)
      return
    }
    if (!text.includes('/')) {
      this.#tail = text.length <= SCHEME_CHARACTERS ? text : text.slice(-SCHEME_CHARACTERS)
      return
    }
    const words = text.split(DELIMITERS)
    // It may go on with the next piece.
    const last = words.pop() ?? ''
    for (const word of words) if (word.includes('/')) this.#note(word)
    this.#hasSlash = last.includes('/')
    this.#goOn(last)
  }

  #goOn(last: string): void {
    this.#isTooLong = last.length > CHARACTERS_MAX
    if (this.#isTooLong) this.#note(last)
    if (this.#isTooLong) this.#hasSlash = false
    this.#tail = this.#isTooLong ? '' : last
  }

  /** Whether the text contains one of these, the same but for what follows in the word. */
  hasAny(urls: readonly string[]): boolean {
    for (const seen of [this.#tail, ...(this.#urls ?? [])]) {
      if (urls.some((url) => seen.includes(url))) return true
    }
    return false
  }

  #note(word: string): void {
    this.#urls ??= new Set()
    if (this.#urls.size < URLS_MAX) this.#urls.add(word.slice(0, CHARACTERS_MAX))
  }
}
