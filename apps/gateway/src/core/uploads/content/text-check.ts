import { TextDecoder } from 'node:util'
import { Problem } from '#core/base/errors/errors.ts'

/**
 * Checks a whole file as text while it streams past: UTF-8, UTF-16 with a byte order mark, or GB18030, in which many Chinese
 * programs still write CSV. An encoding is ruled out by the first bytes that are not valid in it; the file is text as long as
 * one is left. The memory that this takes does not depend on the size of the file.
 */
export class TextCheck {
  #decoders: readonly TextDecoder[]

  /** @param head the beginning of the file, at least three bytes of it if it has them */
  constructor(head: Uint8Array) {
    // A decoder that ignores the mark would not reject one in the middle, but neither would it return the mark as text.
    this.#decoders = encodingsOf(head).map((encoding) => new TextDecoder(encoding, { fatal: true }))
  }

  /**
   * Takes the file's bytes in order, from the first on.
   *
   * @throws Problem `file_type_not_accepted`
   */
  feed(chunk: Uint8Array): void {
    if (!this.accepts(chunk)) refuse()
  }

  /** @throws Problem `file_type_not_accepted` if the file ends within a character */
  end(): void {
    if (!this.acceptsEnd()) refuse()
  }

  /** The same as {@link TextCheck.feed}, for callers that only want to know. */
  accepts(chunk: Uint8Array): boolean {
    return this.#keep((decoder) => decoder.decode(chunk, { stream: true }))
  }

  acceptsEnd(): boolean {
    return this.#keep((decoder) => decoder.decode())
  }

  /** The encodings that have not been ruled out so far, the likeliest first. */
  get encodings(): readonly string[] {
    return this.#decoders.map((decoder) => decoder.encoding)
  }

  #keep(decode: (decoder: TextDecoder) => string): boolean {
    this.#decoders = this.#decoders.filter((decoder) => isText(() => decode(decoder)))
    return this.#decoders.length > 0
  }
}

/** UTF-8 comes first, since what is valid UTF-8 is rarely meant as anything else. */
function encodingsOf([first, second, third]: Uint8Array): readonly string[] {
  if (first === 0xff && second === 0xfe) return ['utf-16le']
  if (first === 0xfe && second === 0xff) return ['utf-16be']
  if (first === 0xef && second === 0xbb && third === 0xbf) return ['utf-8']
  return ['utf-8', 'gb18030']
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins the colours in the logs of many programs.
const BINARY = /[^\P{Cc}\t\n\f\r\x1b]/u

function isText(decode: () => string): boolean {
  try {
    return !BINARY.test(decode())
  } catch (error) {
    // A fatal decoder throws a TypeError for bytes that are not valid in its encoding.
    if (error instanceof TypeError) return false
    throw error
  }
}

function refuse(): never {
  throw new Problem('file_type_not_accepted', {
    field: ['file'],
    detail: 'it begins as text, but what follows is not UTF-8, UTF-16 with a byte order mark or GB18030.',
  })
}
