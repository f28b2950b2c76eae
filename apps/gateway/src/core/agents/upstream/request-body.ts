import { Readable } from 'node:stream'

/** Smaller bodies are handed over as they are, since a stream costs more than it frees. */
const LARGE_CHARACTERS = 8 * 1024

/**
 * A body in the form in which undici takes it. undici keeps what it was given until the reply has ended, which for a
 * stream takes minutes: a long conversation goes as a stream, which is empty once it has been sent.
 */
export function requestBody(body: string | Readable | undefined): string | Readable | null {
  return typeof body === 'string' && body.length >= LARGE_CHARACTERS ? new LargeBody(body) : (body ?? null)
}

/** Everything comes with the first read, so that undici knows the length before it writes the head. */
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
