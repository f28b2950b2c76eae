/** How much of a text is kept for comparison. */
const CHARACTERS_MAX = 1_048_576

/** The text of a reply so far, by which a text that the platform sends once more as a whole is recognized. */
export class SaidText {
  /** The end of the text, and how much came before it. */
  #end = ''
  #droppedCharacters = 0

  get isEmpty(): boolean {
    return this.#end === ''
  }

  add(piece: string): void {
    this.#end += piece
    // Cut only now and then, since each cut copies what is kept.
    const excess = this.#end.length - CHARACTERS_MAX
    if (excess < CHARACTERS_MAX) return
    this.#end = this.#end.slice(excess)
    this.#droppedCharacters += excess
  }

  /** What a whole text adds to what was said; undefined if it does not begin with that. */
  restOf(whole: string): string | undefined {
    return whole.startsWith(this.#end, this.#droppedCharacters)
      ? whole.slice(this.#droppedCharacters + this.#end.length)
      : undefined
  }

  /** Whether what was said ends with this text, but for white space around both. */
  endsWith(text: string): boolean {
    const [said, repeated] = [this.#end.trim(), text.trim()]
    return said.endsWith(repeated) || (this.#droppedCharacters > 0 && repeated.endsWith(said))
  }
}
