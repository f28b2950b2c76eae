import { StringDecoder } from 'node:string_decoder'
import { createParser, type EventSourceParser } from 'eventsource-parser'
import type { UpstreamEvent } from '#core/agents/adapter.ts'

/** An error in JSON that was written without the name of a field. */
const BARE_ERROR = /^\{\s*"errors?"\s*:/

/** Parses server-sent events from chunks of bytes, with a cap on the buffered part of an incomplete event. */
export class EventReader {
  /** Created only once a chunk may end inside a character, since the chunks of most replies never do. */
  #decoder: StringDecoder | undefined
  readonly #parser: EventSourceParser
  readonly #eventCharactersMax: number
  #isTooLong = false
  /** Whether the last character that the parser got has ended a line. */
  #isAtLineStart = true
  /** The beginning of a line that may be an error; the parser would drop it, since it knows no such field. */
  #errorLine = ''

  constructor(eventCharactersMax: number, onEvent: (event: UpstreamEvent) => void) {
    this.#eventCharactersMax = eventCharactersMax
    this.#parser = createParser({
      maxBufferSize: eventCharactersMax,
      onEvent,
      onError: ({ type, field, value, line }) => {
        if (type === 'max-buffer-size-exceeded') this.#isTooLong = true
        // llama.cpp of 2025 writes an error as a field of its own, and other servers as a bare line.
        else if (field === 'error') onEvent({ event: 'error', data: value ?? '' })
        else if (line !== undefined && BARE_ERROR.test(line)) onEvent({ event: 'error', data: line })
      },
    })
  }

  /** Returns false once a line or an event has grown beyond the cap. */
  feed(chunk: Buffer): boolean {
    // The parser throws if it is fed after it has reported an overflow.
    if (this.#isTooLong) return false
    // A chunk that ends in ASCII, as events do, cannot cut a character, and a plain conversion costs less.
    const isPlain = this.#decoder === undefined && (chunk.at(-1) ?? 0) < 0x80
    this.#feed(isPlain ? chunk.toString() : this.#decode(chunk))
    return !this.#isTooLong
  }

  /**
   * Completes the last event, because platforms close the stream without the blank line that would end it.
   */
  end(): void {
    if (!this.#isTooLong) this.#feed(`${this.#decoder?.end() ?? ''}\n\n`)
  }

  #feed(text: string): void {
    if (this.#errorLine.length > FIELD.length && !/[\r\n]/.test(text)) {
      // Not looked at before its end has come: with each of many pieces, that would read all of it again.
      this.#errorLine += text
      this.#isTooLong ||= this.#errorLine.length > this.#eventCharactersMax
      return
    }
    const whole = this.#errorLine === '' ? text : this.#errorLine + text
    this.#errorLine = ''
    const end = endOfLines(whole)
    if (end < whole.length && (end > 0 || this.#isAtLineStart) && mayBeError(whole, end)) {
      this.#errorLine = whole.slice(end)
      this.#isTooLong ||= this.#errorLine.length > this.#eventCharactersMax
    }
    const lines = this.#errorLine === '' ? whole : whole.slice(0, end)
    if (lines === '' || this.#isTooLong) return
    this.#isAtLineStart = endOfLines(lines) === lines.length
    this.#parser.feed(lines)
  }

  #decode(chunk: Buffer): string {
    this.#decoder ??= new StringDecoder('utf8')
    return this.#decoder.write(chunk)
  }
}

/** The place behind the last line break. Chunks usually end with one. */
function endOfLines(text: string): number {
  const last = text.length - 1
  const code = text.charCodeAt(last)
  if (code === LF || code === CR) return last + 1
  return Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1
}

const LF = 10
const CR = 13
const FIELD = 'error:'

function mayBeError(text: string, from: number): boolean {
  return text[from] === '{' || FIELD.startsWith(text.slice(from, from + FIELD.length))
}
