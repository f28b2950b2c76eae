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
  changed(): void
  /** Nothing is generated any more: the run has ended, or waits for an answer. */
  left(): void
}

/** One reply being generated. On some platforms it outlives its connection. */
export class Run implements SeenRun {
  readonly id: string
  readonly conversationId: string
  readonly query: string
  readonly owner: string | undefined
  readonly answers: unknown[] = []
  #text = ''
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

  /** What has been generated so far, pauses and answers included. */
  get text(): string {
    return this.#text
  }

  say(fragment: string): void {
    this.#text += fragment
  }

  get halted(): boolean {
    return this.#halt.signal.aborted
  }

  /** Sets the final state. Later calls have no effect. */
  settle(state: Exclude<RunState, 'running' | 'paused'>): void {
    if (this.#state !== 'running' && this.#state !== 'paused') return
    this.#state = state
    this.#observer.changed()
  }

  /** Waits for an answer, after which the run goes on. */
  suspend(): void {
    if (this.#state !== 'running') return
    this.#state = 'paused'
    this.#observer.changed()
    this.#observer.left()
  }

  /** Goes on with an answer. */
  resume(answer: unknown): void {
    this.answers.push(answer)
    this.#state = 'running'
    this.#observer.changed()
  }

  /**
   * Ends the generation. The run may be settled already, because a cancelled Coze chat continues to stream.
   */
  finish(): void {
    this.settle('finished')
    this.#observer.left()
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
      changed: () => this.#seen.changed(),
      left: () => this.#running.delete(run.id),
    })
    this.#seen.run(run)
    return this.#enter(run)
  }

  /** A paused run goes on with its answer. The platform stores no turn for it, since it is a part of the one that paused. */
  resume(run: Run, answer: unknown): Run {
    run.resume(answer)
    return this.#enter(run)
  }

  #enter(run: Run): Run {
    this.#running.set(run.id, run)
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
