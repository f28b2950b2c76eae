import { withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { sleep } from '#core/base/async/sleep.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { KeptForm } from './kept-form.ts'
import { KeptRun, type ReplyToKeep, type RunBounds, type RunCall, type RunDeps } from './kept-run.ts'
import { ReplyEnds } from './reply-ends.ts'
import type { ReplyStore } from './store/reply-store.ts'
import type { EndOfReply, StoredPart } from './store/reply-writer.ts'
import type { WakeUps } from './wake-ups/wake-ups.ts'

export interface ReplyRunsDeps {
  readonly store: Pick<ReplyStore, 'append' | 'end' | 'lose' | 'stopped' | 'haveReaders'>
  readonly wakeUps: WakeUps
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  readonly bounds: RunBounds & {
    /** How long a call without readers goes on. */
    readonly graceMs: number
  }
  readonly observer: RunsObserver
}

export interface RunsObserver {
  /** The log of a call is not stored any more, since it is too large or cannot be stored in time. */
  lost(callId: string): void
  /** Something more is stored. */
  grown(): void
  /** The logs cannot be stored, and when they can be again. */
  storable(isStorable: boolean, error?: unknown): void
}

/** How far the database is behind what readers in this process get. */
const STORE_EVERY_MS = 250
/**
 * How often a process reads whether a stop of its calls was requested, since the wake-up may have been lost. Ticks are a quarter of
 * a second apart, so that it takes at most a second.
 */
const LOOK_EVERY_MS = 750
/** What all runs of a process together may have waiting to be stored; beyond it logs are lost. */
const UNSTORED_BYTES_MAX = 64 * 1024 * 1024
/** What one statement stores. */
const STATEMENT_BYTES = 4 * 1024 * 1024
/** Readers do not wait longer for the end of a reply to be stored. */
const END_WITHIN_MS = 2_000

/** The kept calls that run in this process. One timer serves them all, and there is none while there are no calls. */
export class KeptRuns {
  readonly #deps: ReplyRunsDeps
  readonly #runDeps: RunDeps
  readonly #runs = new Map<string, KeptRun>()
  readonly #ends: ReplyEnds
  #timer: NodeJS.Timeout | undefined
  #isStoring = false
  #isLooking = false
  /** Something may have changed since the look that is under way began. */
  #mustLookAgain = false
  #isStorable = true
  #lookedAtMs = 0

  constructor(deps: ReplyRunsDeps) {
    this.#deps = deps
    this.#runDeps = {
      runtime: deps.runtime,
      bounds: deps.bounds,
      end: (run, end, parts) => this.#end(run, end, parts),
      urge: () => this.#storeSoon(),
      onPause: () => this.#loseBeyondBound(),
    }
    this.#ends = new ReplyEnds({
      store: deps.store,
      runtime: deps.runtime,
      observer: {
        lost: (callId) => deps.observer.lost(callId),
        failed: (error) => this.#setStorable(false, error),
        stored: (callId) => {
          deps.observer.grown()
          deps.wakeUps.send('log', [callId])
        },
      },
    })
  }

  /** Runs a call to its end. */
  start(call: RunCall, parts: { readonly reply: ReplyToKeep; readonly form: KeptForm }): KeptRun {
    const { callId } = call
    const run = new KeptRun(this.#runDeps, call, parts)
    this.#runs.set(callId, run)
    const endListening = this.#deps.wakeUps.listen('stop', callId, () => this.#lookSoon())
    markRejectionHandled(
      run.run().finally(() => {
        endListening()
        this.#runs.delete(callId)
      }),
    )
    this.#timer ??= setInterval(() => this.#tick(), STORE_EVERY_MS).unref()
    return run
  }

  /** The run of a call of this process; undefined for calls of others, and for those that have ended. */
  get(callId: string): KeptRun | undefined {
    return this.#runs.get(callId)
  }

  /** Waits until every run has ended and every end is stored, at most so long. */
  async close(timeoutMs: number): Promise<void> {
    const deadline = this.#deps.runtime.elapsedMs() + timeoutMs
    const isBusy = () => this.#runs.size > 0 || this.#ends.waiting > 0
    while (isBusy() && this.#deps.runtime.elapsedMs() < deadline) await sleep(20)
    this.#ends.close()
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #tick(): void {
    if (this.#runs.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    // Here and not where logs are stored, since that is what may hang.
    for (const run of this.#runs.values()) run.checkPause()
    this.#loseBeyondBound()
    this.#storeSoon()
    if (this.#deps.runtime.elapsedMs() - this.#lookedAtMs >= LOOK_EVERY_MS) this.#lookSoon()
  }

  #storeSoon(): void {
    if (!this.#isStoring) markRejectionHandled(this.#store())
  }

  #lookSoon(): void {
    if (this.#isLooking) this.#mustLookAgain = true
    else markRejectionHandled(this.#look())
  }

  /** Stores what the runs have appended, in one statement at a time. */
  async #store(): Promise<void> {
    this.#isStoring = true
    try {
      for (;;) {
        const parts = this.#partsToStore()
        if (parts.length === 0) break
        await this.#append(parts)
      }
      await this.#tellLosses()
      this.#setStorable(true)
    } catch (error) {
      this.#setStorable(false, error)
    }
    this.#isStoring = false
  }

  #partsToStore(): StoredPart[] {
    const parts: StoredPart[] = []
    let bytes = 0
    for (const run of this.#runs.values()) {
      const part = run.part()
      if (part === undefined) continue
      parts.push(part)
      bytes += part.text.length
      if (bytes >= STATEMENT_BYTES) break
    }
    return parts
  }

  async #append(parts: readonly StoredPart[]): Promise<void> {
    const ended = new Set(await this.#deps.store.append(parts))
    const stored: string[] = []
    for (const part of parts) {
      const run = this.#runs.get(part.callId)
      if (ended.has(part.callId)) run?.overrule()
      else {
        run?.stored(part)
        stored.push(part.callId)
      }
    }
    if (stored.length > 0) this.#deps.wakeUps.send('log', stored)
  }

  /**
   * Bounds what waits for a database that is slow or does not answer. The logs whose platforms wait are lost first, and of
   * these the one that has waited longest, whose readers wait as long; then the largest. Small replies are given up last.
   */
  #loseBeyondBound(): void {
    let waiting = 0
    for (const run of this.#runs.values()) waiting += run.unstoredBytes
    if (waiting <= UNSTORED_BYTES_MAX) return
    for (const run of [...this.#runs.values()].sort(longestPausedThenLargest)) {
      if (waiting <= UNSTORED_BYTES_MAX) return
      waiting -= run.unstoredBytes
      run.lose()
    }
  }

  async #tellLosses(): Promise<void> {
    for (const run of this.#runs.values()) {
      if (!run.mustTellLoss) continue
      const { callId } = run.call
      await this.#deps.store.lose(callId)
      run.toldLoss()
      this.#deps.observer.lost(callId)
      this.#deps.wakeUps.send('log', [callId])
    }
  }

  /** Looks for calls whose stop was requested, that other processes have ended, and that nobody reads. */
  async #look(): Promise<void> {
    this.#isLooking = true
    this.#mustLookAgain = false
    this.#lookedAtMs = this.#deps.runtime.elapsedMs()
    const { store, bounds } = this.#deps
    try {
      for (const { callId, isEnded } of await store.stopped([...this.#runs.keys()])) {
        const run = this.#runs.get(callId)
        if (isEnded) run?.overrule()
        else run?.stop()
      }
      const unread = [...this.#runs.values()].filter((run) => run.isUnread(bounds.graceMs))
      if (unread.length > 0) await this.#leaveUnread(unread)
    } catch {
      // The calls go on. That the database does not answer is reported where logs are stored.
    }
    this.#isLooking = false
    if (this.#mustLookAgain) this.#lookSoon()
  }

  async #leaveUnread(runs: readonly KeptRun[]): Promise<void> {
    const read = new Set(await this.#deps.store.haveReaders(runs.map(({ call }) => call.callId)))
    for (const run of runs) {
      // A reader of this process may have come meanwhile.
      if (!read.has(run.call.callId) && run.isUnread(this.#deps.bounds.graceMs)) run.leave()
    }
  }

  /** Resolves when the end is stored, or when readers shall wait no longer; it is stored in the background then. */
  async #end(run: KeptRun, end: EndOfReply, parts: readonly StoredPart[]): Promise<boolean> {
    const writing = markRejectionHandled(this.#ends.write(end, parts))
    try {
      return await withDeadline(END_WITHIN_MS, writing)
    } catch {
      return true
    } finally {
      if (run.mustTellLoss) {
        run.toldLoss()
        this.#deps.observer.lost(end.callId)
      }
    }
  }

  #setStorable(now: boolean, error?: unknown): void {
    if (now !== this.#isStorable) this.#deps.observer.storable(now, error)
    this.#isStorable = now
  }
}

function longestPausedThenLargest(a: KeptRun, b: KeptRun): number {
  const { pausedSinceMs: one = Number.POSITIVE_INFINITY } = a
  const { pausedSinceMs: other = Number.POSITIVE_INFINITY } = b
  return one === other ? b.unstoredBytes - a.unstoredBytes : one - other
}
