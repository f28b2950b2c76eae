import type { ChatEvent, TakeEvents } from '#core/agents/events.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { CallOutcome } from '#core/ledger/call-kinds.ts'
import { countEvents, withIds } from './event-text.ts'
import { FlushPause } from './flush-pause.ts'
import type { KeptEnd } from './kept-call.ts'
import type { KeptForm } from './kept-form.ts'
import { keptProblem } from './kept-problem.ts'
import { type Events, LogMemory } from './log-memory.ts'
import type { EndOfReply, StoredPart } from './store/reply-writer.ts'

/** The reply of an agent that a run reads. The run must be its only reader. */
export interface ReplyToKeep {
  /** Rejects with a {@link Problem} for every end but that of a complete reply, whose last event is `end`. */
  read(take: TakeEvents): Promise<void>
  /** Ends the call because a client has requested it. */
  stop(): void
  /** Ends the call because nobody reads it, or because it counts as dead. */
  leave(): void
  /** How it ended; known when {@link read} has settled. */
  readonly ending: ReplyEnding | undefined
}

export interface ReplyEnding {
  readonly outcome: CallOutcome
  /** Whether it is proven that the platform has not taken the turn. */
  readonly leftNoTurn: boolean
}

export interface RunBounds {
  /** The largest reply that is kept, in bytes. */
  readonly bytesMax: number
  /** The largest JSON reply of a call; a larger one fails. */
  readonly replyBytesMax: number
  /** How long a client waits for the first event before its response begins. */
  readonly headerHoldMs: number
}

export interface RunDeps {
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  readonly bounds: RunBounds
  /** Stores the end; resolves to whether it is the one that counts, as soon as that is known or readers shall wait no longer. */
  readonly end: (run: KeptRun, end: EndOfReply, parts: readonly StoredPart[]) => Promise<boolean>
  /** The log has grown so much that it should be stored at once. */
  readonly urge: () => void
  /** The platform waits now until the log is stored. */
  readonly onPause: () => void
}

/** The call of a run. */
export interface RunCall {
  readonly callId: string
  readonly keyId: string
  readonly ownerId: string
  /** Whether its client requested a stream. */
  readonly stream: boolean
}

/** How a run ended for those who follow it in its process. */
export type RunEnd =
  | { readonly kind: 'own'; readonly end: KeptEnd; readonly reply: string | undefined }
  /** Another process has ended the reply before, so that the database has what counts. */
  | { readonly kind: 'overruled' }

/** Stored at once when so much is waiting. */
const URGENT_BYTES = 64 * 1024
/** While more than this waits to be stored, the platform is not read. */
const UNSTORED_BYTES_MAX = 1024 * 1024

/**
 * One kept call while it runs: it reads the reply to its end, whether or not anybody follows, and appends its events to the
 * log. It never waits for a reader, and for the database only as long as {@link FlushPause} allows.
 */
export class KeptRun {
  readonly call: RunCall
  readonly #deps: RunDeps
  readonly #reply: ReplyToKeep
  readonly #form: KeptForm
  readonly #startedMs: number
  readonly #memory = new LogMemory()
  readonly #pause: FlushPause
  readonly #waiting = new Set<() => void>()
  #held = ''
  #isLost = false
  #isTold = false
  #end: RunEnd | undefined
  #readers = 0
  #unreadSinceMs: number

  constructor(deps: RunDeps, call: RunCall, { reply, form }: { reply: ReplyToKeep; form: KeptForm }) {
    this.#deps = deps
    this.call = call
    this.#reply = reply
    this.#form = form
    this.#startedMs = deps.runtime.elapsedMs()
    this.#pause = new FlushPause(deps.runtime)
    this.#unreadSinceMs = this.#startedMs
    if (call.stream && form.opening !== undefined) this.#append(form.opening)
  }

  get end(): RunEnd | undefined {
    return this.#end
  }

  /** Whether the log is not stored any more. Readers that keep up still get the rest. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** Whether the loss of the log has not been written to the database yet. */
  get mustTellLoss(): boolean {
    return this.#isLost && !this.#isTold
  }

  get unstoredBytes(): number {
    return this.#isLost ? 0 : this.#memory.unstoredBytes
  }

  /** Since when the platform waits for the log to be stored, on the clock of `elapsedMs`; undefined while it does not. */
  get pausedSinceMs(): number | undefined {
    return this.#pause.sinceMs
  }

  /** Reads the reply to its end. Never rejects. */
  async run(): Promise<void> {
    let problem: Problem | undefined
    try {
      await this.#reply.read((batch) => this.#take(batch))
    } catch (error) {
      problem = problemOf(error)
    }
    await this.#finish(problem)
  }

  stop(): void {
    this.#reply.stop()
  }

  /** Ends a call whose reply another process has ended, since it took this one for dead. */
  overrule(): void {
    if (this.#end !== undefined) return
    this.#conclude({ kind: 'overruled' })
    this.#reply.leave()
  }

  /** Ends the call if it has had no reader for so long. */
  isUnread(forMs: number): boolean {
    return this.#readers === 0 && this.#deps.runtime.elapsedMs() - this.#unreadSinceMs >= forMs
  }

  leave(): void {
    this.#reply.leave()
  }

  /** Counts a reader until the returned function is called. */
  hold(): () => void {
    this.#readers += 1
    return () => {
      this.#readers -= 1
      this.#unreadSinceMs = this.#deps.runtime.elapsedMs()
    }
  }

  /** The number of the last event that readers get. */
  get last(): number {
    return this.#memory.last
  }

  holds(after: number): boolean {
    return this.#memory.holds(after)
  }

  read(after: number): Events | undefined {
    return this.#memory.read(after)
  }

  /** Calls `wake` at the next change; returns the function that takes that back. */
  onChange(wake: () => void): () => void {
    this.#waiting.add(wake)
    return () => this.#waiting.delete(wake)
  }

  /** The next part to store. The same one is returned until it is known to be stored. */
  part(): StoredPart | undefined {
    if (this.#isLost || this.#end !== undefined) return undefined
    const part = this.#memory.part()
    return part === undefined ? undefined : { callId: this.call.callId, ...part }
  }

  stored({ first, count }: StoredPart): void {
    this.#memory.markStored(first + count - 1)
    if (this.unstoredBytes <= UNSTORED_BYTES_MAX) this.#pause.end()
  }

  /** Lets the platform go on if it has waited long enough, and if the call was ended meanwhile. */
  checkPause(): void {
    if (this.#pause.sinceMs === undefined) return
    if (this.#reply.ending !== undefined) this.#pause.end()
    else if (this.#pause.isSpent) this.lose()
  }

  /** Keeps the log no longer: it is too large, or cannot be stored in time. */
  lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#memory.markStored(this.#memory.last)
    this.#pause.end()
  }

  toldLoss(): void {
    this.#isTold = true
  }

  #take(batch: readonly ChatEvent[]): Promise<void> | undefined {
    const { stream } = this.call
    const { collector } = this.#form
    let text = ''
    for (const event of batch) {
      if (stream) text += this.#form.encode(event)
      // A stream whose log is lost has no use for its other form.
      if (!stream || !this.#isLost) collector.add(event)
    }
    const { bytesMax, replyBytesMax } = this.#deps.bounds
    if (!stream && collector.heldBytes > replyBytesMax) {
      throw new Problem('agent_malformed', { detail: `The reply is larger than ${replyBytesMax} bytes.` })
    }
    // The end is shown when it is stored, so that every reader sees the same one.
    const isLast = batch.at(-1)?.type === 'end'
    if (isLast) this.#held = text
    else if (text !== '') this.#append(text)
    if (this.#memory.allBytes + collector.heldBytes > bytesMax) this.lose()
    return isLast ? undefined : this.#untilStored()
  }

  /** Undefined if the platform need not wait. */
  #untilStored(): Promise<void> | undefined {
    if (this.unstoredBytes <= UNSTORED_BYTES_MAX || this.#end !== undefined) return undefined
    if (this.#pause.isSpent) {
      this.lose()
      return undefined
    }
    const pausing = markRejectionHandled(this.#pause.begin())
    this.#deps.onPause()
    return pausing
  }

  #append(text: string): void {
    this.#memory.append(this.#numbered(text))
    if (this.#isLost) this.#memory.markStored(this.#memory.last)
    else if (this.#memory.unstoredBytes >= URGENT_BYTES) this.#deps.urge()
    this.#changed()
  }

  #numbered(text: string) {
    return this.#form.hasIds ? withIds(text, this.#memory.last) : { text, count: countEvents(text) }
  }

  async #finish(failed: Problem | undefined): Promise<void> {
    const { callId, stream } = this.call
    const { outcome = 'upstream_error', leftNoTurn = false } = this.#reply.ending ?? {}
    const wasStopped = failed?.reason === 'stopped'
    // The call was stopped because it had no readers; they may come back.
    const problem = outcome === 'client_gone' && !wasStopped ? new Problem('stopped', UNREAD) : failed
    const status = problem === undefined ? 200 : this.#statusOf(problem)
    const lastText = problem === undefined ? this.#held : stream ? this.#form.fail(problem) : ''
    this.#held = ''
    const last = this.#numbered(lastText)
    const before = this.#memory.last
    const freesKey = problem !== undefined && leftNoTurn && !wasStopped
    const end: KeptEnd = {
      outcome,
      events: before + last.count,
      status,
      problem: problem === undefined ? undefined : keptProblem(problem, { isFinal: !freesKey }),
    }
    const reply = problem === undefined && (!stream || !this.#isLost) ? this.#form.serialize() : undefined
    const parts = this.#isLost ? [] : [...this.#memory.parts(), ...asParts(before + 1, last)]
    const counts = await this.#deps.end(
      this,
      { callId, ...end, status, reply: this.#isLost ? undefined : reply, isLost: this.#isLost, freesKey },
      parts.map((part) => ({ callId, ...part })),
    )
    if (this.#end !== undefined) return
    if (counts && last.count > 0) this.#memory.append(last)
    this.#memory.markStored(this.#memory.last)
    this.#conclude(counts ? { kind: 'own', end, reply } : { kind: 'overruled' })
  }

  /** Clients that have seen nothing yet get a failure as an ordinary response. */
  #statusOf({ status }: Problem): number {
    const isEarly = this.#deps.runtime.elapsedMs() - this.#startedMs < this.#deps.bounds.headerHoldMs
    return !this.call.stream || (this.#memory.last === 0 && isEarly) ? status : 200
  }

  #conclude(end: RunEnd): void {
    this.#end ??= end
    this.#pause.end()
    this.#changed()
  }

  #changed(): void {
    for (const wake of this.#waiting) wake()
  }
}

const UNREAD = { detail: 'The call was stopped because nobody read its reply.' }

function asParts(first: number, { text, count }: { text: string; count: number }): Events[] {
  return count === 0 ? [] : [{ first, text, count }]
}
