import type { ServerResponse } from 'node:http'
import { BURST_CHUNKS, CHUNK_APART_MS, TALKING } from './workload.ts'

const TICK_MS = 2
const TICKS = CHUNK_APART_MS / TICK_MS

/**
 * Writes chunks to open streams, of which a limited group is active at a time. The streams of a group get a burst of
 * chunks at the pace of a model, then the next group becomes active. Within a group the streams are spread evenly over the
 * time between two chunks, because real chunks of different streams do not arrive at the same moment either.
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

  /** Adds a stream, which gets chunks until the process ends. The first stream starts the clock. */
  add(response: ServerResponse): void {
    if (this.#streams.length === 0) this.#start()
    this.#streams.push(response)
  }

  #start(): void {
    this.#startedMs = performance.now()
    this.#tick = 0
    setInterval(() => this.#catchUp(), TICK_MS)
  }

  /** Catches up after late ticks, but writes to each stream at most once per tick. */
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
