import type { Readable } from 'node:stream'
import { Problem } from '#core/base/errors/errors.ts'

/** What a form may have besides its files: the headers and delimiters of its parts, and short texts. */
const BYTES_MAX = 64 * 1024

/** The most that has arrived and is not parsed yet: one chunk of the socket, and what the parser buffers. */
const UNPARSED_BYTES_MAX = 128 * 1024

/**
 * Bounds what a form has besides its files. The parser skips without a limit what it does not understand (parts without a
 * name, the rest of a text that is too long, what precedes the first part), so such a form could keep a connection busy
 * for as long as an upload may take.
 */
export class FormOverhead {
  readonly #exceeded = Promise.withResolvers<never>()
  readonly #files: { readonly bytesRead: number }[] = []
  #bytes = 0
  #isWatching = false

  constructor() {
    this.#exceeded.promise.catch(() => undefined)
  }

  /** Counts what arrives. The promise never resolves, and rejects with `body_too_large` as soon as it is certainly too much. */
  watch(form: Readable): Promise<never> {
    if (!this.#isWatching) form.on('data', (chunk: Buffer) => this.#count(chunk.length))
    this.#isWatching = true
    return this.#exceeded.promise
  }

  /** What is read of this file does not count. */
  exclude(file: { readonly bytesRead: number }): void {
    this.#files.push(file)
  }

  /**
   * Checks a form that has been parsed to its end.
   *
   * @throws Problem `body_too_large`
   */
  check(): void {
    if (this.#overhead() > BYTES_MAX) throw tooLarge()
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#overhead() > BYTES_MAX + UNPARSED_BYTES_MAX) this.#exceeded.reject(tooLarge())
  }

  #overhead(): number {
    return this.#bytes - this.#files.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
  }
}

function tooLarge(): Problem {
  const detail = `is too large; expected at most ${BYTES_MAX} bytes besides the file.`
  return new Problem('body_too_large', { field: [], detail })
}
