import { Readable } from 'node:stream'

/** Smaller bodies are passed as strings, since a stream would cost more than the memory it frees. */
export const LARGE_CHARACTERS = 8 * 1024

/**
 * A large body as a stream, which is empty once it has been sent: undici references the body until the reply has ended, which may
 * take minutes. Provides the whole text with the first read, so that undici knows its length before it writes the headers.
 */
export class LargeBody extends Readable {
  #text: string

  constructor(text: string) {
    super()
    this.#text = text
  }

  override _read(): void {
    this.push(Buffer.from(this.#text))
    this.#text = ''
    this.push(null)
  }
}
