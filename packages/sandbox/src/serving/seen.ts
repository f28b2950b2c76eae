import type { JsonRecord } from './narrow.ts'

/**
 * What has become of a run. `paused`: it waits for an answer; `aborted`: it ended with its client's connection; `stopped`: it
 * was ended by a stop call.
 */
export type RunState = 'running' | 'paused' | 'finished' | 'aborted' | 'stopped'

/** A request as it reached an emulator, whether it was accepted or not. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** As Node parses them: the names are in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Parsed JSON, in which large bodies lack the content of `data:` URLs, or the fields of a form; a file is `{ filename, contentType, size, sha256 }`. */
  readonly body: JsonRecord
}

/** A reply that an emulator generates or has generated. */
export interface SeenRun {
  /** The platform's id of the run: a task, chat or completion id. */
  readonly id: string
  readonly conversationId: string
  /** The text of the user's message, fault words included. */
  readonly query: string
  readonly state: RunState
  /**
   * What its pauses were answered with, oldest first: a text, the fields of FastGPT's form, or `{ action, inputs }` on Dify. A
   * run that goes on after its answers is still one run.
   */
  readonly answers: readonly unknown[]
}

/** Which turns are counted: those that have all that is set. */
export interface TurnFilter {
  readonly query?: string
  readonly conversationId?: string
}

/** A call that asks the platform to stop a run. */
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
  /**
   * Counts the turns that the platform has stored, among the last 1,000: it stores one whenever a run begins, whatever becomes
   * of the run and of its connection, and none for a call that it refuses before.
   *
   * @example
   * ```ts
   * assert.equal(seen.turns({ query: 'sandbox:reset-first Hello' }), 1)
   * ```
   */
  turns(filter?: TurnFilter): number
  /**
   * Calls `find` now and after every change, and resolves with its first truthy result.
   *
   * @example
   * ```ts
   * const run = await seen.waitFor(({ runs }) => runs.find(({ state }) => state === 'aborted'))
   * ```
   */
  waitFor<T>(find: (seen: Seen) => T): Promise<Exclude<T, false | undefined | null>>
}

// Load tests run against the emulators for a long time, and an unbounded log would exhaust their memory.
const ENTRIES_MAX = 1_000

export class SeenLog implements Seen {
  readonly requests: SeenRequest[] = []
  readonly runs: SeenRun[] = []
  readonly stops: SeenStop[] = []
  #waiting: (() => void)[] = []

  turns({ query, conversationId }: TurnFilter = {}): number {
    return this.runs.filter(
      (run) =>
        (query === undefined || run.query === query) &&
        (conversationId === undefined || run.conversationId === conversationId),
    ).length
  }

  async waitFor<T>(find: (seen: Seen) => T): Promise<Exclude<T, false | undefined | null>> {
    for (;;) {
      const found = find(this)
      if (found) return found as Exclude<T, false | undefined | null>
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
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
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  #keep<T>(list: T[], item: T): void {
    list.push(item)
    if (list.length > ENTRIES_MAX) list.shift()
    this.changed()
  }
}

/**
 * The log of a second address of a platform. The requests are its own; runs and stop calls are those of the platform, which are
 * the same at all of its addresses.
 */
export class SeenAtSecond extends SeenLog {
  override readonly runs: SeenRun[]
  override readonly stops: SeenStop[]
  readonly #platform: SeenLog

  constructor(platform: SeenLog) {
    super()
    this.#platform = platform
    this.runs = platform.runs
    this.stops = platform.stops
  }

  override waitFor<T>(find: (seen: Seen) => T): Promise<Exclude<T, false | undefined | null>> {
    return this.#platform.waitFor(() => find(this))
  }

  override changed(): void {
    this.#platform.changed()
  }
}
