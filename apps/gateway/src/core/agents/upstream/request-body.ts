import { Readable } from 'node:stream'

/** Smaller bodies are passed as strings, since a stream would cost more than the memory it frees. */
const LARGE_CHARACTERS = 8 * 1024

/**
 * Returns a body in a form that undici accepts. undici references the body until the reply has ended, which
 * may take minutes; a long body is therefore wrapped in a stream, which is empty once it has been sent.
 */
export function requestBody(body: string | Readable | undefined): string | Readable | null {
  return typeof body === 'string' && body.length >= LARGE_CHARACTERS ? new LargeBody(body) : (body ?? null)
}

/**
 * Provides the whole text with the first read, so that undici knows its length before it writes the headers.
 */
class LargeBody extends Readable {
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
