import { StringDecoder } from 'node:string_decoder'
import { createParser, type EventSourceParser } from 'eventsource-parser'
import type { UpstreamEvent } from '#core/agents/adapter.ts'

/** Parses server-sent events from chunks of bytes, with a cap on the buffered part of an incomplete event. */
export class EventReader {
  /** Created only once a chunk may end inside a character, since the chunks of most replies never do. */
  #decoder: StringDecoder | undefined
  readonly #parser: EventSourceParser
  #isTooLong = false

  constructor(eventCharactersMax: number, onEvent: (event: UpstreamEvent) => void) {
    this.#parser = createParser({
      maxBufferSize: eventCharactersMax,
      onEvent: ({ event, data }) => onEvent({ event, data }),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#isTooLong = true
      },
    })
  }

  /** Returns false once a line or an event has grown beyond the cap. */
  feed(chunk: Buffer): boolean {
    // The parser throws if it is fed after it has reported an overflow.
    if (!this.#isTooLong) this.#parser.feed(this.#decode(chunk))
    return !this.#isTooLong
  }

  /**
   * Completes the last event, because platforms close the stream without the blank line that would end it.
   */
  end(): void {
    if (!this.#isTooLong) this.#parser.feed(`${this.#decoder?.end() ?? ''}\n\n`)
  }

  /** A chunk that ends in ASCII, as events do, cannot cut a character, and a plain conversion costs less. */
  #decode(chunk: Buffer): string {
    if (this.#decoder === undefined && (chunk.at(-1) ?? 0) < 0x80) return chunk.toString()
    this.#decoder ??= new StringDecoder('utf8')
    return this.#decoder.write(chunk)
  }
}
