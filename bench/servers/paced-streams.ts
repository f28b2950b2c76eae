import type { ServerResponse } from 'node:http'
import { BURST_CHUNKS, CHUNK_APART_MS, TALKING } from '../load/workload.ts'

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
  #isStarted = false
  #startedMs = 0
  #tick = 0
  #written = 0

  constructor(chunks: readonly Buffer[]) {
    this.#chunks = chunks
  }

  /** Adds a stream, which gets chunks until it is closed. The first stream starts the clock. */
  add(response: ServerResponse): void {
    if (!this.#isStarted) this.#start()
    this.#streams.push(response)
    response.once('close', () => this.#streams.splice(this.#streams.indexOf(response), 1))
  }

  #start(): void {
    this.#isStarted = true
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
    const groups = Math.max(1, Math.ceil(this.#streams.length / TALKING))
    const group = Math.floor(tick / TICKS / BURST_CHUNKS) % groups
    const end = Math.min((group + 1) * TALKING, this.#streams.length)
    for (let index = group * TALKING + (tick % TICKS); index < end; index += TICKS) {
      this.#streams[index]?.write(this.#chunks[this.#written % this.#chunks.length])
      this.#written += 1
    }
  }
}
