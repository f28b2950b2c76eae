/**
 * Whether a JSON object that comes in pieces is whole. Each piece is read once, where parsing what has come so far would read the
 * beginning again with every piece. It counts brackets, and does not notice what else is wrong.
 */
export class ObjectProgress {
  #depth = 0
  #isInString = false
  #isEscaped = false
  #state: 'before' | 'within' | 'whole' | 'other' = 'before'

  /** Whether the text so far is one object, and nothing but white space around it. */
  get isWhole(): boolean {
    return this.#state === 'whole'
  }

  add(piece: string): void {
    for (let index = 0; index < piece.length && this.#state !== 'other'; index += 1)
      this.#read(piece.charAt(index))
  }

  #read(character: string): void {
    if (this.#isInString) this.#readInString(character)
    else if (this.#state === 'within') this.#readWithin(character)
    else if (character === '{' && this.#state === 'before') this.#open()
    else if (character.trim() !== '') this.#state = 'other'
  }

  #open(): void {
    this.#depth += 1
    this.#state = 'within'
  }

  #readWithin(character: string): void {
    if (character === '"') this.#isInString = true
    else if (character === '{' || character === '[') this.#open()
    else if (character === '}' || character === ']') {
      this.#depth -= 1
      if (this.#depth === 0) this.#state = 'whole'
    }
  }

  #readInString(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (character === '\\') this.#isEscaped = true
    else if (character === '"') this.#isInString = false
  }
}
