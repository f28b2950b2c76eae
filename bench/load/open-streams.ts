import { Agent, type Dispatcher } from 'undici'
import type { Target } from './load.ts'
import type { Call } from './workload.ts'

const OPENING_AT_ONCE = 64
/** On a slow machine fewer streams are opened instead of waiting longer. */
const OPENING_WITHIN_MS = 120_000
const RETRY_AFTER_MS = 1_000
const NEVER = 0

/** Streams of one server that stay open, and the number of chunks that they have received. */
export class OpenStreams {
  readonly #target: Target
  readonly #agent = new Agent({ headersTimeout: NEVER, bodyTimeout: NEVER })
  #open = 0
  #reads = 0
  #chunks = 0

  constructor(target: Target) {
    this.#target = target
  }

  get open(): number {
    return this.#open
  }

  /** Chunks that arrived in one read show that the machine was too busy to read each of them separately. */
  get seen(): { readonly chunks: number; readonly reads: number } {
    return { chunks: this.#chunks, reads: this.#reads }
  }

  /** Opens streams until `count` are open in total. */
  async upTo(count: number, call: Call): Promise<void> {
    const deadlineMs = performance.now() + OPENING_WITHIN_MS
    let left = count - this.#open
    const worker = async () => {
      while (left > 0 && performance.now() < deadlineMs) {
        left -= 1
        if (await this.#openOne(call)) continue
        left += 1
        await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS))
      }
    }
    await Promise.all(Array.from({ length: OPENING_AT_ONCE }, worker))
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  /** Resolves to true at the first chunk, or to false if the server is too busy at the moment. */
  #openOne({ path, body }: Call): Promise<boolean> {
    const { origin, headers } = this.#target
    return new Promise((resolve, reject) => {
      let isStream = false
      let isOpen = false
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart() {},
        onResponseStart(_controller, status) {
          if (status === 503) resolve(false)
          else if (status !== 200) reject(new Error(`a stream was answered ${status}`))
          isStream = status === 200
        },
        onResponseData: (_controller, chunk) => {
          if (!isStream) return
          this.#reads += 1
          this.#chunks += eventsIn(chunk)
          if (isOpen) return
          isOpen = true
          this.#open += 1
          resolve(true)
        },
        onResponseEnd: () => reject(new Error('a stream that should stay open ended')),
        onResponseError: (_controller, error) => reject(error),
      }
      this.#agent.dispatch({ origin, method: 'POST', path, headers, body }, handler)
    })
  }
}

/** Counts chunks without comments. */
function eventsIn(chunk: Buffer): number {
  let count = 0
  for (let position = chunk.indexOf('data:'); position >= 0; position = chunk.indexOf('data:', position + 5))
    count += 1
  return count
}
