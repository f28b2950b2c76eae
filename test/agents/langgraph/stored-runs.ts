import { setTimeout as sleep } from 'node:timers/promises'
import { asText } from '@trunkline/sandbox/src/serving/narrow.ts'
import type { Run, Runs } from '@trunkline/sandbox/src/serving/runs.ts'
import { RecentMap } from './recent-map.ts'
import type { Upstream } from './upstream.ts'

/** LangGraph's ids of a run. */
export interface RunIds {
  readonly run: string
  /** Empty for a run without a thread. */
  readonly thread: string
}

const POLL_MS = 20

/**
 * The runs of LangGraph, as tests see them. An answer to an interrupt begins another run of LangGraph, which is a part of the one
 * that was interrupted.
 */
export class StoredRuns {
  readonly #runs: Runs
  readonly #upstream: Upstream
  readonly #byId = new RecentMap<Run>()
  /** The runs that wait for an answer, by their threads. */
  readonly #paused = new RecentMap<Run>()
  readonly #following = new RecentMap<Promise<void>>()

  constructor(runs: Runs, upstream: Upstream) {
    this.#runs = runs
    this.#upstream = upstream
  }

  /** The run that has this id of LangGraph, whether it goes on or is over. */
  find(id: string): Run | undefined {
    return this.#byId.get(id)
  }

  paused(thread: string): Run | undefined {
    return this.#paused.get(thread)
  }

  begin({ run: id, thread }: RunIds, query: string): Run {
    // A question in place of the answer drops the interrupt.
    this.#paused.get(thread)?.finish()
    this.#paused.delete(thread)
    return this.#enter(id, this.#runs.begin({ id, conversationId: thread, query }))
  }

  /** Goes on with the run that waits in the thread; undefined if there is none, of which LangGraph says nothing. */
  resume({ run: id, thread }: RunIds, answer: unknown): Run | undefined {
    const run = this.#paused.get(thread)
    if (run === undefined) return undefined
    this.#paused.delete(thread)
    return this.#enter(id, this.#runs.resume(run, answer))
  }

  /** Notes how a run has ended, as soon as LangGraph says that it has. */
  follow(ids: RunIds, run: Run): Promise<void> {
    const following = this.#following.get(ids.run) ?? this.#untilOver(ids, run)
    this.#following.set(ids.run, following)
    return following
  }

  async #untilOver(ids: RunIds, run: Run): Promise<void> {
    while (run.state === 'running') {
      const status = await this.#statusOf(ids)
      if (status !== 'pending' && status !== 'running') return this.#settle(ids, run, status)
      await sleep(POLL_MS)
    }
  }

  async #settle({ thread }: RunIds, run: Run, status: string): Promise<void> {
    if (status === 'interrupted') return run.halt('aborted')
    const state = status === 'success' ? await this.#call(`/threads/${thread}`) : undefined
    if (state?.status !== 'interrupted') return run.finish()
    this.#paused.set(thread, run)
    run.suspend()
  }

  async #statusOf({ run, thread }: RunIds): Promise<string> {
    // Of a run without a thread nothing can be asked; its stream has ended.
    if (thread === '') return 'error'
    return asText((await this.#call(`/threads/${thread}/runs/${run}`))?.status)
  }

  /** When the server has been closed, nothing goes on. */
  #call(path: string) {
    return this.#upstream.call('GET', path).catch(() => undefined)
  }

  #enter(id: string, run: Run): Run {
    this.#byId.set(id, run)
    return run
  }
}
