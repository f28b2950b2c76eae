import type { IncomingHttpHeaders } from 'node:http'
import type { JsonRecord } from './narrow.ts'

export type RunState = 'running' | 'finished' | 'aborted' | 'stopped'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  /** Parsed JSON, or the fields of a form; a file is `{ filename, contentType, size }`. */
  readonly body: JsonRecord
}

export interface SeenRun {
  /** The platform's id of the run: a task, chat or completion id. */
  readonly id: string
  readonly conversationId: string
  /** `aborted`: ended with its client's connection; `stopped`: ended by a stop call. */
  readonly state: RunState
}

export interface SeenStop {
  /** The run that was stopped; undefined if there was none to stop. */
  readonly runId: string | undefined
  readonly path: string
  readonly body: JsonRecord
}

/** The log of an emulator: the last 1,000 requests, runs and stop calls, oldest first. */
export interface Seen {
  readonly requests: readonly SeenRequest[]
  readonly runs: readonly SeenRun[]
  readonly stops: readonly SeenStop[]
  /** Calls `find` now and after every change, and resolves with its first truthy result. */
  waitFor<T>(find: (seen: Seen) => T): Promise<Exclude<T, false | undefined | null>>
}

// Load tests run against the emulators for a long time, and an unbounded log would exhaust their memory.
const ENTRIES_MAX = 1_000

export class SeenLog implements Seen {
  readonly requests: SeenRequest[] = []
  readonly runs: SeenRun[] = []
  readonly stops: SeenStop[] = []
  #change = Promise.withResolvers<void>()

  async waitFor<T>(find: (seen: Seen) => T): Promise<Exclude<T, false | undefined | null>> {
    for (;;) {
      const found = find(this)
      if (found) return found as Exclude<T, false | undefined | null>
      await this.#change.promise
    }
  }

  request(request: SeenRequest): void {
    this.#keep(this.requests, request)
  }

  run(run: SeenRun): void {
    this.#keep(this.runs, run)
  }

  stop(stop: SeenStop): void {
    this.#keep(this.stops, stop)
  }

  changed(): void {
    const { resolve } = this.#change
    this.#change = Promise.withResolvers()
    resolve()
  }

  #keep<T>(list: T[], item: T): void {
    list.push(item)
    if (list.length > ENTRIES_MAX) list.shift()
    this.changed()
  }
}
