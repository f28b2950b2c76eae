import { InvalidResponseError } from '../errors.ts'

/** An event of a stream. */
export interface ServerEvent {
  readonly data: string
  readonly event: string | undefined
}

/** Finds the events in the bytes of a stream. */
export interface EventParser {
  /** True once a line was a field or a comment of the event stream format, or the beginning of one. */
  hasSeenField: boolean
  /**
   * Returns the events that the next bytes complete, each when it is read; without bytes, the last event, which the end of the
   * stream completes.
   *
   * @throws InvalidResponseError if a line or an event is longer than the limit
   */
  push(bytes?: Uint8Array | ArrayBuffer): Generator<ServerEvent, undefined>
}

export interface EventParserOptions {
  /** How many characters a line, or the data of an event, may have. */
  readonly lineLengthMax?: number | undefined
  readonly onComment?: (() => void) | undefined
  /**
   * Is called for every line, before the event is returned that it ends. The last lines are ended by the end of the stream alone, and
   * may be cut.
   */
  readonly onLine?: ((line: string, isCut: boolean) => void) | undefined
  /** Whether an event that has only a name is one, too. Without it, such an event is skipped, as the standard says. */
  readonly takesEmpty?: boolean
}

/** Far above the longest event of a gateway, which holds at most 1 MiB of a stream back. */
const LINE_LENGTH_MAX = 16 * 1024 * 1024

export function eventParser({
  lineLengthMax: lengthMax = LINE_LENGTH_MAX,
  onComment,
  onLine,
  takesEmpty,
}: EventParserOptions): EventParser {
  // Byte order marks are removed line by line.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let unfinished = ''
  let endedInCarriageReturn = false
  let data: string | undefined
  let event: string | undefined

  function checked(text: string): string {
    if (text.length <= lengthMax) return text
    throw new InvalidResponseError(`A line of the stream is longer than ${lengthMax} characters.`)
  }

  return {
    hasSeenField: false,
    *push(bytes) {
      const text = bytes ? decoder.decode(bytes, { stream: true }) : `${decoder.decode()}\n\n`
      // A carriage return ends its line at once; the line feed that follows it may come with the next bytes.
      const lines = (endedInCarriageReturn ? text.replace(/^\n/, '') : text).split(/\r\n?|\n/)
      if (text !== '') endedInCarriageReturn = text.endsWith('\r')
      // Line ends are searched in what arrives alone, so that a long line is not searched again and again.
      lines[0] = unfinished + lines[0]
      unfinished = lines.pop() ?? ''
      for (const each of lines) {
        const line = checked(each).replace(/^\ufeff/, '')
        onLine?.(line, !bytes)
        if (line === '') {
          const found = { data: data ?? '', event }
          data = event = undefined
          if (found.data || (takesEmpty && found.event)) yield found
          continue
        }
        // A line without a colon is the name of a field whose value is empty. One space after the colon belongs to the format.
        const colon = `${line}:`.indexOf(':')
        const name = line.slice(0, colon)
        const value = line.slice(colon + 1).replace(/^ /, '')
        if (name === 'data') data = checked(data === undefined ? value : `${data}\n${value}`)
        else if (name === 'event') event = value
        else if (name === '') onComment?.()
        // Other fields, `id` and `retry` among them, have no meaning here; but a stream may be cut within a name.
        this.hasSeenField ||= ['data', 'event'].some((field) => field.startsWith(name))
      }
      checked(unfinished)
      return undefined
    },
  }
}
