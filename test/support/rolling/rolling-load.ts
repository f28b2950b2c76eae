import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { chatBody } from '../api.ts'

export interface RollingLoadOptions {
  readonly url: string
  readonly key: string
  readonly agent: string
  /** How many streams are open at any time. */
  readonly streams: number
  readonly streamMs: { readonly min: number; readonly max: number }
  /** How many calls without a stream begin in each second. */
  readonly callsPerSecond: number
}

/** What clients saw. `refused` and `broken` count by what it was. */
export interface Seen {
  /** Calls that ended as they should. */
  readonly done: number
  readonly refused: Readonly<Record<string, number>>
  readonly broken: Readonly<Record<string, number>>
}

/** A request without an answer, after which this proxy gets no requests for a moment. */
const AFTER_FAILURE_MS = 200

/** Clients that keep streams open and make calls until they are stopped, and repeat nothing. */
export class RollingLoad {
  readonly #options: RollingLoadOptions
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  readonly #running = new Set<Promise<void>>()
  readonly #refused: Record<string, number> = {}
  readonly #broken: Record<string, number> = {}
  readonly #timer: NodeJS.Timeout
  #done = 0
  #open = 0
  #isStopped = false

  constructor(options: RollingLoadOptions) {
    this.#options = options
    for (let index = 0; index < options.streams; index += 1) this.#track(this.#keepStreaming())
    this.#timer = setInterval(() => this.#track(this.#call(false)), 1_000 / options.callsPerSecond)
  }

  /** How many streams have had their first bytes and go on. */
  get open(): number {
    return this.#open
  }

  /** What the clients have seen so far. */
  get seen(): Seen {
    return { done: this.#done, refused: this.#refused, broken: this.#broken }
  }

  /** Begins no more calls, waits for those that run, and returns what the clients saw. */
  async stop(): Promise<Seen> {
    this.#isStopped = true
    clearInterval(this.#timer)
    while (this.#running.size > 0) await Promise.all(this.#running)
    await this.#agent.close()
    return this.seen
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#running.delete(tracked))
    this.#running.add(tracked)
  }

  async #keepStreaming(): Promise<void> {
    while (!this.#isStopped) await this.#call(true)
  }

  async #call(stream: boolean): Promise<void> {
    const { url, key, agent, streamMs } = this.#options
    const lastMs = stream ? Math.round(streamMs.min + Math.random() * (streamMs.max - streamMs.min)) : 0
    let isOpen = false
    try {
      const sentMs = performance.now()
      const { statusCode, body } = await request(`${url}/api/v1/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, agent, 'content-type': 'application/json' },
        body: JSON.stringify(chatBody({ stream, query: `for ${lastMs} ms`, chat_id: randomUUID() })),
        dispatcher: this.#agent,
      })
      if (statusCode !== 200) {
        // An admission that the database did not answer in time is refused after two seconds, and what a restart refuses at once.
        const seconds = Math.floor((performance.now() - sentMs) / 1_000)
        count(this.#refused, `${statusCode} ${reasonIn(await body.text())} after ${seconds} s`)
        if (stream) await pause(AFTER_FAILURE_MS)
        return
      }
      isOpen = stream
      if (isOpen) this.#open += 1
      const text = await body.text()
      if (stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}')) this.#done += 1
      else count(this.#broken, `ended with ${JSON.stringify(text.slice(-120))}`)
    } catch (error) {
      const name = error instanceof Error && 'code' in error ? String(error.code) : String(error)
      count(this.#broken, isOpen ? `stream: ${name}` : name)
      if (stream) await pause(AFTER_FAILURE_MS)
    } finally {
      if (isOpen) this.#open -= 1
    }
  }
}

/** A gateway answers with a reason, a proxy with a page of its own. */
function reasonIn(body: string): string {
  return /"reason":"(\w+)"/.exec(body)?.[1] ?? 'by the proxy'
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}
