import { StringDecoder } from 'node:string_decoder'
import { createParser, type EventSourceParser } from 'eventsource-parser'
import type { UpstreamEvent } from '#core/agents/adapter.ts'

/** Bytes in, events out, with a cap on what may stand before an event is complete. */
export class EventReader {
  readonly #eventBytesMax: number
  /** Only where a chunk ended within a character: few platforms' ever do. */
  #decoder: StringDecoder | undefined
  readonly #parser: EventSourceParser
  #bytesSinceEvent = 0

  constructor(eventBytesMax: number, onEvent: (event: UpstreamEvent) => void) {
    this.#eventBytesMax = eventBytesMax
    this.#parser = createParser({
      onEvent: ({ event, data }) => {
        this.#bytesSinceEvent = 0
        onEvent({ event, data })
      },
      onComment: () => {
        this.#bytesSinceEvent = 0
      },
    })
  }

  /** False where a line or an event grows beyond the cap. */
  feed(chunk: Buffer): boolean {
    this.#bytesSinceEvent += chunk.length
    this.#parser.feed(this.#decode(chunk))
    return this.#bytesSinceEvent <= this.#eventBytesMax
  }

  /** Platforms end without the blank line that would complete their last event. */
  end(): void {
    this.#parser.feed(`${this.#decoder?.end() ?? ''}\n\n`)
  }

  /** A chunk that ends in ASCII, as events do, ends with a whole character. */
  #decode(chunk: Buffer): string {
    if (this.#decoder === undefined && (chunk.at(-1) ?? 0) < 0x80) return chunk.toString()
    this.#decoder ??= new StringDecoder('utf8')
    return this.#decoder.write(chunk)
  }
}
