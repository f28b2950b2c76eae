import { StringDecoder } from 'node:string_decoder'
import { createParser, type EventSourceParser } from 'eventsource-parser'
import type { UpstreamEvent } from '#core/agents/adapter.ts'

/** Bytes in, events out, with a cap on what may stand before an event is complete. */
export class EventReader {
  readonly #eventBytesMax: number
  readonly #decoder = new StringDecoder('utf8')
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
    this.#parser.feed(this.#decoder.write(chunk))
    return this.#bytesSinceEvent <= this.#eventBytesMax
  }

  /** Platforms end without the blank line that would complete their last event. */
  end(): void {
    this.#parser.feed(`${this.#decoder.end()}\n\n`)
  }
}
