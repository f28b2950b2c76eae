import { Agent, type Dispatcher } from 'undici'
import type { Target } from './load.ts'
import type { Call } from './workload.ts'

const OPENING_AT_ONCE = 64
/** On a slow machine fewer are opened rather than waited for. */
const OPENING_WITHIN_MS = 120_000
const RETRY_AFTER_MS = 1_000
const NEVER = 0

/** Streams of one server that stay open, and what has come through them. */
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

  /** Chunks that came together show that a machine was too busy to read each by itself. */
  get seen(): { readonly chunks: number; readonly reads: number } {
    return { chunks: this.#chunks, reads: this.#reads }
  }

  /** Opens streams until so many are open in all. */
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

  /** Resolves with the first chunk, or with false where the server is too busy for now. */
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

/** Comments are none. */
function eventsIn(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf('data:'); at >= 0; at = chunk.indexOf('data:', at + 5)) count += 1
  return count
}
