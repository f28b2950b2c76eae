import { type Batcher, createBatcher } from '#core/base/async/batcher.ts'
import { InFlight } from '#core/base/async/in-flight.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { withoutEvents } from './event-text.ts'
import type { KeptEnd } from './kept-call.ts'
import { problemOfKept } from './kept-problem.ts'
import type { KeptRun } from './kept-run.ts'
import type { KeptRuns } from './kept-runs.ts'
import type { ReadRequest, ReadResult } from './store/reply-reader.ts'
import type { ReplyStore } from './store/reply-store.ts'
import type { WakeUps } from './wake-ups/wake-ups.ts'

export interface ReplyReadersDeps {
  readonly store: Pick<ReplyStore, 'read' | 'reply' | 'holdReading'>
  readonly runs: Pick<KeptRuns, 'get'>
  readonly wakeUps: Pick<WakeUps, 'listen' | 'isTrusted'>
}

/** Takes consecutive events of a stream as one text; a promise makes the reader wait. */
export type TakeText = (text: string, events: number) => Promise<void> | undefined

export interface FollowOptions {
  /** The number of the last event that the reader has. */
  readonly after: number
  readonly take: TakeText
  /** Aborts when the reader is gone. */
  readonly signal: AbortSignal
  /**
   * Whether the reader can still be refused instead of getting a stream whose only event is a failure. It is asked before the
   * first event is passed on.
   */
  readonly canRefuse?: () => boolean
}

/** How a reader's way through a log ends. */
export type FollowEnd =
  /** All events were passed on. An interrupted reply has lost its end, which must be reported to the reader. */
  | { readonly kind: 'ended'; readonly end: KeptEnd; readonly last: number }
  /** The rest of the reply is not kept any more. */
  | { readonly kind: 'gone' }
  /** The reader has left, or must ask another process, since this one stops. */
  | { readonly kind: 'left' }

/** The JSON reply of a call that has ended. */
export type WholeReply =
  | { readonly kind: 'ended'; readonly end: KeptEnd; readonly reply: string | undefined }
  | Exclude<FollowEnd, { kind: 'ended' }>

/** How often readers read the database where no wake-ups arrive. */
const LOOK_EVERY_MS = 250
/** How often they read it where wake-ups arrive, since one may be lost. */
const LOOK_EVERY_MS_TRUSTED = 2_000
/** How often a process records in the database that it has readers; the process of the call sees it there. */
const HOLD_EVERY_MS = 10_000
const HELD_FOR_MS = 25_000
const READS_AT_ONCE = 200

/** A reader that waits for a call of another process. */
interface Elsewhere {
  readonly callId: string
  wake(): void
}

/**
 * The readers of replies in this process. A reader of a call that runs here is served from memory as long as it keeps up; all
 * others read the database, together in one statement, after a wake-up or at the end of the polling interval.
 */
export class ReplyReaders {
  readonly #deps: ReplyReadersDeps
  readonly #read: Batcher<ReadRequest, ReadResult | undefined>
  readonly #elsewhere = new InFlight<Elsewhere>()
  #timer: NodeJS.Timeout | undefined
  #looks = 0
  #isDraining = false

  constructor(deps: ReplyReadersDeps) {
    this.#deps = deps
    this.#read = createBatcher<ReadRequest, ReadResult | undefined>((requests) => deps.store.read(requests), {
      sizeMax: READS_AT_ONCE,
      isShared: () => true,
    })
  }

  /**
   * Passes on the events of a call, until its end or until the reader leaves.
   *
   * @throws Problem the failure of the call, if the reader can be refused; and what `take` throws
   */
  async follow(callId: string, options: FollowOptions): Promise<FollowEnd> {
    const run = this.#deps.runs.get(callId)
    const release = run?.hold()
    const reader = new Reader(options)
    try {
      const end = run === undefined ? undefined : await this.#followRun(run, reader)
      return end ?? (await this.#followStored(callId, reader, run))
    } finally {
      release?.()
    }
  }

  /** Waits for the end of a call, and returns its JSON reply. */
  async whole(callId: string, signal: AbortSignal): Promise<WholeReply> {
    const run = this.#deps.runs.get(callId)
    const release = run?.hold()
    try {
      if (run !== undefined) {
        await endOf(run, signal)
        if (run.end?.kind === 'own') return { kind: 'ended', end: run.end.end, reply: run.end.reply }
      }
      const end = await this.#followStored(callId, new Reader({ ...ONLY_END, signal }, false), undefined)
      if (end.kind !== 'ended') return end
      const reply = end.end.problem === undefined ? await this.#deps.store.reply(callId) : undefined
      if (end.end.problem === undefined && reply === undefined) return { kind: 'gone' }
      return { kind: 'ended', end: end.end, reply }
    } finally {
      release?.()
    }
  }

  /** Ends those who read calls of other processes: their clients go on at a process that does not stop. */
  drain(): void {
    this.#isDraining = true
    for (const reader of this.#elsewhere.all()) reader.wake()
  }

  /** Undefined if the rest must be read from the database. */
  #followRun(run: KeptRun, reader: Reader): Promise<FollowEnd | undefined> {
    return new Promise((resolve, reject) => new RunFollower(run, reader, { resolve, reject }).pump())
  }

  async #followStored(callId: string, reader: Reader, run: KeptRun | undefined): Promise<FollowEnd> {
    const waiting = new Waiting(reader.signal)
    const endListening = this.#deps.wakeUps.listen('log', callId, () => waiting.wake())
    const remove = this.#elsewhere.add({ callId, wake: () => waiting.wake() })
    this.#startTimer()
    let isHeld = run !== undefined
    try {
      for (;;) {
        if (reader.isGone) return { kind: 'left' }
        waiting.clear()
        const found = await this.#lookUp(reader, callId)
        if (found === 'unknown') return { kind: 'gone' }
        if (found !== undefined) {
          const { call, parts } = found
          if (call.isGone) return { kind: 'gone' }
          if (call.end !== undefined) reader.refuse(call.end)
          if (call.end !== undefined && !reader.wantsEvents) {
            return { kind: 'ended', end: call.end, last: call.end.events }
          }
          const before = reader.at
          for (const { first, count, text } of parts) {
            const skipped = reader.at + 1 - first
            if (skipped >= count) continue
            const taking = markRejectionHandled(reader.pass(withoutEvents(text, skipped), count - skipped))
            if (taking !== undefined) await taking
          }
          if (call.end !== undefined && reader.at >= call.end.events) {
            return { kind: 'ended', end: call.end, last: reader.at }
          }
          // It has caught up with what is stored of a call of this process, whose newer events are in memory.
          if (run !== undefined && run.end?.kind !== 'overruled' && run.holds(reader.at)) {
            const end = await this.#followRun(run, reader)
            if (end !== undefined) return end
            continue
          }
          if (reader.at > before) continue
          // An end without the events before it has lost them.
          if (call.end !== undefined) return { kind: 'gone' }
        }
        if (this.#isDraining && run === undefined) return { kind: 'left' }
        if (!isHeld) {
          isHeld = true
          this.#holdReading([callId])
        }
        await waiting.next()
      }
    } finally {
      endListening()
      remove()
      waiting.end()
    }
  }

  /** Undefined if the database does not answer: the reader looks again later. */
  async #lookUp(reader: Reader, callId: string): Promise<ReadResult | 'unknown' | undefined> {
    try {
      return (await this.#read({ callId, after: reader.wantsEvents ? reader.at : EVENTS_MAX })) ?? 'unknown'
    } catch {
      return undefined
    }
  }

  #startTimer(): void {
    this.#timer ??= setInterval(() => this.#tick(), LOOK_EVERY_MS).unref()
  }

  #tick(): void {
    const readers = this.#elsewhere.all()
    if (readers.length === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    this.#looks += 1
    const isDue = (everyMs: number) => this.#looks % Math.round(everyMs / LOOK_EVERY_MS) === 0
    if (isDue(this.#deps.wakeUps.isTrusted ? LOOK_EVERY_MS_TRUSTED : LOOK_EVERY_MS)) {
      for (const reader of readers) reader.wake()
    }
    if (isDue(HOLD_EVERY_MS)) this.#holdReading([...new Set(readers.map(({ callId }) => callId))])
  }

  #holdReading(callIds: readonly string[]): void {
    markRejectionHandled(this.#deps.store.holdReading(callIds, HELD_FOR_MS))
  }
}

/** Beyond the events of any reply: only the end is of interest. */
const EVENTS_MAX = 2 ** 31 - 2

const ONLY_END = { after: 0, take: () => undefined }

/** How far one reader has come. */
class Reader {
  at: number
  readonly signal: AbortSignal
  /** Not if only the end is of interest. */
  readonly wantsEvents: boolean
  readonly #options: FollowOptions
  #hasPassed = false

  constructor(options: FollowOptions, wantsEvents = true) {
    this.#options = options
    this.at = options.after
    this.signal = options.signal
    this.wantsEvents = wantsEvents
  }

  get isGone(): boolean {
    return this.signal.aborted
  }

  pass(text: string, events: number): Promise<void> | undefined {
    this.#hasPassed = true
    this.at += events
    return this.#options.take(text, events)
  }

  /** @throws Problem the failure of a call that has ended before its first event, if the reader has nothing of it yet */
  refuse({ status, problem, events }: KeptEnd): void {
    const hasStream = status === 200 || (status === undefined && events > 0)
    if (this.#hasPassed || problem === undefined || hasStream) return
    if (this.#options.canRefuse?.() === true) throw problemOfKept(problem)
  }
}

type Settle = Pick<PromiseWithResolvers<FollowEnd | undefined>, 'resolve' | 'reject'>

/**
 * Passes on the events of a run as they are appended, in the same turn of the event loop. It is no loop that awaits each change,
 * which would cost every event several promises.
 */
class RunFollower {
  readonly #run: KeptRun
  readonly #reader: Reader
  readonly #settle: Settle
  readonly #endListening: () => void
  readonly #onAbort = () => this.pump()
  #isPaused = false
  #isOver = false

  constructor(run: KeptRun, reader: Reader, settle: Settle) {
    this.#run = run
    this.#reader = reader
    this.#settle = settle
    this.#endListening = run.onChange(() => this.pump())
    reader.signal.addEventListener('abort', this.#onAbort)
  }

  pump(): void {
    if (this.#isPaused || this.#isOver) return
    try {
      for (;;) {
        const end = this.#end()
        if (end !== undefined) {
          this.#close()
          this.#settle.resolve(end === 'in the database' ? undefined : end)
          return
        }
        const events = this.#run.read(this.#reader.at)
        if (events === undefined) return
        const taking = markRejectionHandled(this.#reader.pass(events.text, events.count))
        if (taking !== undefined) {
          this.#isPaused = true
          taking.then(
            () => this.#resume(),
            (error: unknown) => this.#fail(error),
          )
          return
        }
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Undefined as long as there is something to pass on or to wait for. */
  #end(): FollowEnd | 'in the database' | undefined {
    const { at, isGone } = this.#reader
    const { end, isLost } = this.#run
    if (isGone) return { kind: 'left' }
    if (end?.kind === 'overruled') return 'in the database'
    if (!this.#run.holds(at)) return isLost ? { kind: 'gone' } : 'in the database'
    if (end === undefined) return undefined
    this.#reader.refuse(end.end)
    return at < this.#run.last ? undefined : { kind: 'ended', end: end.end, last: at }
  }

  #resume(): void {
    this.#isPaused = false
    this.pump()
  }

  #fail(error: unknown): void {
    this.#close()
    this.#settle.reject(error)
  }

  #close(): void {
    this.#isOver = true
    this.#endListening()
    this.#reader.signal.removeEventListener('abort', this.#onAbort)
  }
}

/** Waits until it is woken, also if that has happened since it was cleared. */
class Waiting {
  readonly #signal: AbortSignal
  readonly #wake = () => this.wake()
  #isWoken = false
  #resolve: (() => void) | undefined

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#wake)
  }

  clear(): void {
    this.#isWoken = false
  }

  wake(): void {
    this.#isWoken = true
    this.#resolve?.()
  }

  async next(): Promise<void> {
    if (this.#isWoken || this.#signal.aborted) return
    await new Promise<void>((resolve) => {
      this.#resolve = resolve
    })
    this.#resolve = undefined
  }

  end(): void {
    this.#signal.removeEventListener('abort', this.#wake)
  }
}

/** Resolves when the run has ended, or its reader has left. */
async function endOf(run: KeptRun, signal: AbortSignal): Promise<void> {
  const waiting = new Waiting(signal)
  const endListening = run.onChange(() => waiting.wake())
  while (run.end === undefined && !signal.aborted) {
    waiting.clear()
    await waiting.next()
  }
  endListening()
  waiting.end()
}
