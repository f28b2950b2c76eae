import { StringDecoder } from 'node:string_decoder'
import { createParser, type EventSourceParser } from 'eventsource-parser'
import type { UpstreamEvent } from '#core/agents/adapter.ts'

/** Bytes in, events out, with a cap on what is kept of an event until it is complete. */
export class EventReader {
  /** Only where a chunk ended within a character: few platforms' ever do. */
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

  /** Returns false where a line or an event has grown beyond the cap. */
  feed(chunk: Buffer): boolean {
    // The parser throws when it is fed after that.
    if (!this.#isTooLong) this.#parser.feed(this.#decode(chunk))
    return !this.#isTooLong
  }

  /** Platforms end without the blank line that would complete their last event. */
  end(): void {
    if (!this.#isTooLong) this.#parser.feed(`${this.#decoder?.end() ?? ''}\n\n`)
  }

  /** A chunk that ends in ASCII, as events do, ends with a whole character. */
  #decode(chunk: Buffer): string {
    if (this.#decoder === undefined && (chunk.at(-1) ?? 0) < 0x80) return chunk.toString()
    this.#decoder ??= new StringDecoder('utf8')
    return this.#decoder.write(chunk)
  }
}
