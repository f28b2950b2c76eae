import { InvalidResponseError } from '../errors.ts'

const BYTE_ORDER_MARK = '\ufeff'

/**
 * Finds the events in the bytes of a stream. `data` and `event` are those of the last event that {@link EventParser.next} found;
 * they are plain fields because an object for each event would be a good part of the cost of reading it.
 */
export class EventParser {
  data = ''
  event: string | undefined
  /** True once a line was a field or a comment of the event stream format. */
  hasSeenField = false
  readonly #lengthMax: number
  readonly #onComment: (() => void) | undefined
  // Byte order marks are removed line by line.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** Whole lines, each of which ends in a line feed, whatever its line ending was, and where the next one begins. */
  #lines = ''
  #at = 0
  /** The beginning of a line. Line ends are searched in what arrives alone, so that a long line is not searched again and again. */
  #unfinished = ''
  #endedInCarriageReturn = false
  #nextData: string | undefined
  #nextEvent: string | undefined

  /** The limit counts the characters of a line, and of the data of an event. */
  constructor(lengthMax: number, onComment: (() => void) | undefined) {
    this.#lengthMax = lengthMax
    this.#onComment = onComment
  }

  /** Gives the next bytes, once {@link EventParser.next} has returned false. */
  push(bytes: Uint8Array): void {
    this.#add(this.#decoder.decode(bytes, { stream: true }))
  }

  /** Says that there are no more bytes, which ends the last line and the last event. */
  end(): void {
    this.#add(`${this.#decoder.decode()}\n\n`)
  }

  /**
   * Moves to the next event that has data, and returns false if more bytes are needed.
   *
   * @throws InvalidResponseError if a line or an event is longer than the limit
   */
  next(): boolean {
    const lines = this.#lines
    while (this.#at < lines.length) {
      let start = this.#at
      const end = lines.indexOf('\n', start)
      this.#at = end + 1
      this.#checkLength(end - start)
      if (lines[start] === BYTE_ORDER_MARK) start += 1
      if (start < end) this.#read(lines, start, end)
      else if (this.#dispatch()) return true
    }
    this.#checkLength(this.#unfinished.length)
    return false
  }

  #add(text: string): void {
    // A carriage return ends its line at once; the line feed that follows it may come with the next bytes.
    let added = this.#endedInCarriageReturn && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') this.#endedInCarriageReturn = text.endsWith('\r')
    // JSON has no raw carriage return, so the usual stream is only searched for one.
    if (added.includes('\r')) added = added.replace(/\r\n?/g, '\n')
    const end = added.lastIndexOf('\n') + 1
    this.#lines = end === 0 ? '' : this.#unfinished + added.slice(0, end)
    this.#at = 0
    this.#unfinished = (end === 0 ? this.#unfinished : '') + added.slice(end)
  }

  /** An event without data is skipped, as the standard says; its name goes with it. */
  #dispatch(): boolean {
    this.data = this.#nextData ?? ''
    this.event = this.#nextEvent
    this.#nextData = undefined
    this.#nextEvent = undefined
    return this.data !== ''
  }

  #read(lines: string, start: number, end: number): void {
    const line = lines.slice(start, end)
    // A line without a colon is the name of a field whose value is empty.
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    // One space after the colon belongs to the format.
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') {
      this.#nextData = this.#nextData === undefined ? value : `${this.#nextData}\n${value}`
      this.#checkLength(this.#nextData.length)
    } else if (name === 'event') this.#nextEvent = value
    else if (name === '') this.#onComment?.()
    // Other fields, `id` and `retry` among them, have no meaning here.
    else return
    this.hasSeenField = true
  }

  #checkLength(length: number): void {
    if (length <= this.#lengthMax) return
    throw new InvalidResponseError(
      `A line or an event of the stream is longer than ${this.#lengthMax} characters.`,
    )
  }
}
