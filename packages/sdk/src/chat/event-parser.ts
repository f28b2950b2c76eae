import { InvalidResponseError } from '../errors.ts'

/** An event of a stream; one without data is skipped, as the standard says. */
export interface ServerEvent {
  readonly data: string
  readonly event: string | undefined
}

/** Name and value of a line. One without a colon has no value; one space after the colon belongs to the format. */
const FIELD = /^\ufeff?([^:]*)(?:: ?(.*))?$/s

/** Finds the events in the bytes of a stream. */
export class EventParser {
  /** True once a line was a field or a comment of the event stream format, or the beginning of one. */
  hasSeenField = false
  readonly #lengthMax: number
  readonly #onComment: (() => void) | undefined
  // Byte order marks are removed line by line.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** The beginning of a line. Line ends are searched in what arrives alone, so that a long line is not searched again and again. */
  #unfinished = ''
  #endedInCarriageReturn = false

  #data: string | undefined
  #event: string | undefined

  /** The limit counts the characters of a line, and of the data of an event. */
  constructor(lengthMax: number, onComment: (() => void) | undefined) {
    this.#lengthMax = lengthMax
    this.#onComment = onComment
  }

  /**
   * Returns the events that the next bytes complete, each when it is asked for; without bytes, the last event, which the end of
   * the stream ends.
   *
   * @throws InvalidResponseError if a line or an event is longer than the limit
   */
  *push(bytes?: Uint8Array): Generator<ServerEvent, undefined> {
    const text = bytes ? this.#decoder.decode(bytes, { stream: true }) : `${this.#decoder.decode()}\n\n`
    // A carriage return ends its line at once; the line feed that follows it may come with the next bytes.
    const added = this.#endedInCarriageReturn ? text.replace(/^\n/, '') : text
    if (text !== '') this.#endedInCarriageReturn = text.endsWith('\r')
    const lines = added.split(/\r\n?|\n/)
    lines[0] = this.#unfinished + lines[0]
    this.#unfinished = lines.pop() ?? ''
    for (const line of lines) {
      const [, name = '', value] = FIELD.exec(this.#checked(line)) ?? []
      if (name === '' && value === undefined) {
        const [data, event] = [this.#data, this.#event]
        this.#data = this.#event = undefined
        if (data) yield { data, event }
      } else this.#read(name, value)
    }
    this.#checked(this.#unfinished)
  }

  #read(name: string, value = ''): void {
    if (name === 'data') {
      this.#data = this.#checked(this.#data === undefined ? value : `${this.#data}\n${value}`)
    } else if (name === 'event') this.#event = value
    else if (name === '') this.#onComment?.()
    // Other fields, `id` and `retry` among them, have no meaning here; but a stream may be cut within a name.
    this.hasSeenField ||= ['data', 'event'].some((field) => field.startsWith(name))
  }

  #checked(text: string): string {
    if (text.length <= this.#lengthMax) return text
    throw new InvalidResponseError(
      `A line or an event of the stream is longer than ${this.#lengthMax} characters.`,
    )
  }
}
