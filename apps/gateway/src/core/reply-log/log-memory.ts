import { type Numbered, withoutEvents } from './event-text.ts'

/** Consecutive events. */
export interface Events extends Numbered {
  /** The number of the first event. */
  readonly first: number
}

interface Chunk extends Events {
  readonly bytes: number
}

/** How many stored bytes are kept in memory, so that readers that keep up never read the database. */
const TAIL_BYTES = 64 * 1024

/** The end of a log in memory: all that is not stored yet, and a little more. Texts are measured in bytes of UTF-8. */
export class LogMemory {
  #chunks: Chunk[] = []
  #bytes = 0
  #last = 0
  #stored = 0
  #unstoredBytes = 0
  #allBytes = 0
  /** A part that was handed out and may have been stored: it is repeated as it was until that is known. */
  #pending: Events | undefined

  /** The number of the last event. */
  get last(): number {
    return this.#last
  }

  /** What has been appended in all. */
  get allBytes(): number {
    return this.#allBytes
  }

  get unstoredBytes(): number {
    return this.#unstoredBytes
  }

  append({ text, count }: Numbered): void {
    const bytes = Buffer.byteLength(text)
    this.#chunks.push({ first: this.#last + 1, count, text, bytes })
    this.#last += count
    this.#bytes += bytes
    this.#allBytes += bytes
    this.#unstoredBytes += bytes
  }

  /** The next part to store; undefined if all is stored. */
  part(): Events | undefined {
    this.#pending ??= this.#after(this.#stored)
    return this.#pending
  }

  /** All parts that are left to store. */
  parts(): readonly Events[] {
    const part = this.part()
    if (part === undefined) return []
    const rest = this.#after(part.first + part.count - 1)
    return rest === undefined ? [part] : [part, rest]
  }

  markStored(upTo: number): void {
    for (const { first, bytes } of this.#chunks) {
      if (first > this.#stored && first <= upTo) this.#unstoredBytes -= bytes
    }
    this.#stored = Math.max(this.#stored, upTo)
    this.#pending = undefined
    this.#trim()
  }

  /** Whether the events after this number are here, also if there are none yet. */
  holds(after: number): boolean {
    return after >= (this.#chunks[0]?.first ?? this.#last + 1) - 1
  }

  /** The events after this number, which are held; undefined if there are none yet. */
  read(after: number): Events | undefined {
    return this.#after(after)
  }

  #after(after: number): Events | undefined {
    if (after >= this.#last) return undefined
    let index = this.#chunks.length - 1
    // Readers and parts are near the end.
    while (index > 0 && (this.#chunks[index]?.first ?? 0) > after + 1) index -= 1
    let text = ''
    for (let at = index; at < this.#chunks.length; at += 1) text += this.#chunks[at]?.text ?? ''
    const skipped = after + 1 - (this.#chunks[index]?.first ?? 0)
    return { first: after + 1, count: this.#last - after, text: withoutEvents(text, skipped) }
  }

  #trim(): void {
    let dropped = 0
    for (const { first, count, bytes } of this.#chunks) {
      if (first + count - 1 > this.#stored || this.#bytes - bytes < TAIL_BYTES) break
      this.#bytes -= bytes
      dropped += 1
    }
    if (dropped > 0) this.#chunks = this.#chunks.slice(dropped)
  }
}
