import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunState, SeenLog, SeenRun } from './seen.ts'

export interface RunIds {
  readonly id: string
  readonly conversationId: string
  /** The text of the user's message. */
  readonly query: string
  /** The platform's end user, if only that user may stop the run. */
  readonly owner?: string
}

interface RunObserver {
  settled(): void
  finished(): void
}

/** One reply being generated. On some platforms it outlives its connection. */
export class Run implements SeenRun {
  readonly id: string
  readonly conversationId: string
  readonly query: string
  readonly owner: string | undefined
  #state: RunState = 'running'
  readonly #halt = new AbortController()
  readonly #observer: RunObserver

  constructor(ids: RunIds, observer: RunObserver) {
    this.id = ids.id
    this.conversationId = ids.conversationId
    this.query = ids.query
    this.owner = ids.owner
    this.#observer = observer
  }

  get state(): RunState {
    return this.#state
  }

  get halted(): boolean {
    return this.#halt.signal.aborted
  }

  /** Sets the final state. Later calls have no effect. */
  settle(state: Exclude<RunState, 'running'>): void {
    if (this.#state !== 'running') return
    this.#state = state
    this.#observer.settled()
  }

  /**
   * Ends the generation. The run may be settled already, because a cancelled Coze chat continues to stream.
   */
  finish(): void {
    this.settle('finished')
    this.#observer.finished()
  }

  /** Aborts the generation: `pause` and `hold` reject from now on. */
  halt(state: 'stopped' | 'aborted'): void {
    this.settle(state)
    this.#halt.abort()
  }

  /** Rejects as soon as the run is halted. */
  async pause(delayMs: number): Promise<void> {
    this.#halt.signal.throwIfAborted()
    if (delayMs > 0) await sleep(delayMs, undefined, { signal: this.#halt.signal })
  }

  /** Waits until the run is halted, and then rejects. */
  async hold(): Promise<never> {
    if (!this.halted) await once(this.#halt.signal, 'abort')
    throw this.#halt.signal.reason
  }
}

/** The active runs of one emulator. */
export class Runs {
  readonly #seen: SeenLog
  readonly #running = new Map<string, Run>()
  #closed = false

  constructor(seen: SeenLog) {
    this.#seen = seen
  }

  /** Begins a run, with which the platform stores the turn. */
  begin(ids: RunIds): Run {
    const run = new Run(ids, {
      settled: () => this.#seen.changed(),
      finished: () => this.#running.delete(run.id),
    })
    this.#running.set(run.id, run)
    this.#seen.run(run)
    // Its request was still reading files when the emulator was closed.
    if (this.#closed) run.halt('aborted')
    return run
  }

  get(id: string): Run | undefined {
    return this.#running.get(id)
  }

  inConversation(conversationId: string): Run | undefined {
    for (const run of this.#running.values()) if (run.conversationId === conversationId) return run
    return undefined
  }

  close(): void {
    this.#closed = true
    for (const run of this.#running.values()) run.halt('aborted')
  }
}
