import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunState, SeenLog, SeenRun } from './seen.ts'

export interface RunIds {
  readonly id: string
  readonly conversationId: string
  /** The platform's end user, where only that one may stop the run. */
  readonly owner?: string
}

interface RunWatch {
  settled(): void
  finished(): void
}

/** One reply being generated. It may outlive its connection: the platform decides. */
export class Run implements SeenRun {
  readonly id: string
  readonly conversationId: string
  readonly owner: string | undefined
  #state: RunState = 'running'
  readonly #halt = new AbortController()
  readonly #watch: RunWatch

  constructor(ids: RunIds, watch: RunWatch) {
    this.id = ids.id
    this.conversationId = ids.conversationId
    this.owner = ids.owner
    this.#watch = watch
  }

  get state(): RunState {
    return this.#state
  }

  get halted(): boolean {
    return this.#halt.signal.aborted
  }

  /** The first final state stands. */
  settle(state: Exclude<RunState, 'running'>): void {
    if (this.#state !== 'running') return
    this.#state = state
    this.#watch.settled()
  }

  /** No more is generated. A run may have been settled before: a cancelled Coze chat streams on. */
  finish(): void {
    this.settle('finished')
    this.#watch.finished()
  }

  /** Ends the generation: `pause` and `hold` reject from here on. */
  halt(state: 'stopped' | 'aborted'): void {
    this.settle(state)
    this.#halt.abort()
  }

  async pause(delayMs: number): Promise<void> {
    this.#halt.signal.throwIfAborted()
    if (delayMs > 0) await sleep(delayMs, undefined, { signal: this.#halt.signal })
  }

  async hold(): Promise<never> {
    if (!this.halted) await once(this.#halt.signal, 'abort')
    throw this.#halt.signal.reason
  }
}

/** The runs of one emulator that are going on. */
export class Runs {
  readonly #seen: SeenLog
  readonly #running = new Map<string, Run>()

  constructor(seen: SeenLog) {
    this.#seen = seen
  }

  begin(ids: RunIds): Run {
    const run = new Run(ids, {
      settled: () => this.#seen.changed(),
      finished: () => this.#running.delete(run.id),
    })
    this.#running.set(run.id, run)
    this.#seen.run(run)
    return run
  }

  get(id: string): Run | undefined {
    return this.#running.get(id)
  }

  inConversation(conversationId: string): Run | undefined {
    return this.#running.values().find((run) => run.conversationId === conversationId)
  }

  close(): void {
    for (const run of this.#running.values()) run.halt('aborted')
  }
}
