/**
 * Reads texts of which each may be a piece of the answer, or all of it so far: some servers send whole messages that grow, under
 * the name under which others send pieces. A text that begins with everything before it shows that the messages are whole. Pieces
 * may do so by chance while the answer is short (`ha`, `haha`), so such texts are held back until the kind is certain. If it never
 * is, they are taken as pieces, so that nothing is lost, unless all of them are the same word.
 */
export class GrowingText {
  #mode: 'unknown' | 'pieces' | 'whole' = 'unknown'
  /** The first text, which is given out at once. */
  #first = ''
  /** The longest text, if each of them is whole. */
  #longest = ''
  /** The texts that are held back, joined. */
  #held = ''
  /** Whether all texts so far are the same. */
  #areSame = true
  /** Whether a text has repeated what came before it, as pieces do more often than messages that grow. */
  #hasRepetition = false

  /** Returns what is new in this text, as far as that is decided. */
  add(text: string): string {
    switch (this.#mode) {
      case 'pieces':
        return text
      case 'whole':
        return this.#grow(text)
      case 'unknown':
        return this.#decide(text)
    }
  }

  /** Returns what is held back, when nothing more comes that could decide. */
  end(): string {
    if (this.#held === '') return ''
    // The last message of a short answer repeats the first one.
    if (this.#areSame && this.#first.length > 1 && !isOneSign(this.#first)) this.#held = ''
    return this.#goOnInPieces()
  }

  #decide(text: string): string {
    const before = this.#longest
    if (text === '') return ''
    if (before === '') {
      this.#first = text
      this.#longest = text
      return text
    }
    if (!text.startsWith(before)) return this.#goOnInPieces(text)
    this.#areSame &&= text === this.#first
    this.#hasRepetition ||= text.startsWith(before, before.length) || text === before
    if (this.#hasRepetition ? before.length < TELLING_CHARACTERS : isOneSign(before)) {
      this.#held += text
      this.#longest = text
      // A server that repeats the same for ever decides nothing.
      return this.#held.length > HELD_CHARACTERS_MAX ? this.#goOnInPieces() : ''
    }
    this.#mode = 'whole'
    this.#held = ''
    this.#longest = text
    return text.slice(this.#first.length)
  }

  /** A message that was changed at its end, as by trimming it, goes on behind what is the same. */
  #grow(text: string): string {
    const known = this.#longest
    let same = text.startsWith(known) ? known.length : 0
    while (same < known.length && known.charCodeAt(same) === text.charCodeAt(same)) same += 1
    if (same < known.length / 2) return this.#goOnInPieces(text)
    if (text.length > known.length) this.#longest = text
    return text.slice(same)
  }

  #goOnInPieces(text = ''): string {
    const pieces = this.#held + text
    this.#mode = 'pieces'
    this.#first = ''
    this.#longest = ''
    this.#held = ''
    return pieces
  }
}

const HELD_CHARACTERS_MAX = 1_000

/** How long a beginning is that no piece has by chance, even where the answer repeats itself. */
const TELLING_CHARACTERS = 8

/** Whether a text is one digit or sign, once or several times, with which the next piece may begin as well: `-`, `--`. */
function isOneSign(text: string): boolean {
  return !/\p{L}/u.test(text) && new Set(text.replace(/\s+/g, '')).size < 2
}
