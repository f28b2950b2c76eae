import type { ServerResponse } from 'node:http'
import { BURST_CHUNKS, CHUNK_APART_MS, TALKING } from './workload.ts'

const TICK_MS = 2
const TICKS = CHUNK_APART_MS / TICK_MS

/**
 * Writes chunks to open streams, a limited number of which talk at a time: a stream gets a burst of chunks as far apart
 * as those of a model, then it is the next group's turn. Within a group the streams are spread evenly over the time
 * between two chunks, since those of different streams do not arrive at the same moment either.
 */
export class PacedStreams {
  readonly #chunks: readonly Buffer[]
  readonly #streams: ServerResponse[] = []
  #startedMs = 0
  #tick = 0
  #written = 0

  constructor(chunks: readonly Buffer[]) {
    this.#chunks = chunks
  }

  /** Until the reader leaves, and with it all others: streams are closed together. */
  add(response: ServerResponse): void {
    if (this.#streams.length === 0) this.#start()
    this.#streams.push(response)
  }

  #start(): void {
    this.#startedMs = performance.now()
    this.#tick = 0
    setInterval(() => this.#catchUp(), TICK_MS)
  }

  /** Makes up for late ticks, but never writes to a stream twice in one. */
  #catchUp(): void {
    const due = Math.floor((performance.now() - this.#startedMs) / TICK_MS)
    for (let tick = Math.max(this.#tick, due - TICKS); tick < due; tick += 1) this.#write(tick)
    this.#tick = due
  }

  #write(tick: number): void {
    const groups = Math.ceil(this.#streams.length / TALKING)
    const group = Math.floor(tick / TICKS / BURST_CHUNKS) % groups
    const end = Math.min((group + 1) * TALKING, this.#streams.length)
    for (let at = group * TALKING + (tick % TICKS); at < end; at += TICKS) {
      this.#streams[at]?.write(this.#chunks[this.#written % this.#chunks.length])
      this.#written += 1
    }
  }
}
