import type { Timeouts } from '#core/agents/adapter.ts'
import type { Runtime } from '#core/runtime.ts'

export type DeadlineEvent = 'timeout' | 'grace'

/** All deadlines of one reply behind one timer: events only move a number, the timer looks at it when it fires. */
export interface ReplyDeadlines {
  /** Something that counts as life came. */
  activity(): void
  /** The first byte came: from here on silence counts. */
  firstByte(): void
  /** The client is waited for: that is not the platform's silence. */
  pauseIdle(): void
  /** The platform is waited for again: from here on silence counts. */
  resumeIdle(): void
  /** The platform reported its end: what it still has to say may take so long. */
  startGrace(graceMs: number): void
  stop(): void
}

export function startReplyDeadlines(
  timeouts: Timeouts,
  runtime: Runtime,
  onEvent: (event: DeadlineEvent) => void,
): ReplyDeadlines {
  return new Deadlines(timeouts, runtime, onEvent)
}

/** A class, because a function for each of its methods would cost every open stream half a kilobyte. */
class Deadlines implements ReplyDeadlines {
  readonly #timeouts: Timeouts
  readonly #runtime: Runtime
  readonly #onEvent: (event: DeadlineEvent) => void
  readonly #startedMs: number
  #hasBegun = false
  #isServing = false
  #lifeMs: number
  #graceAtMs = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout

  constructor(timeouts: Timeouts, runtime: Runtime, onEvent: (event: DeadlineEvent) => void) {
    this.#timeouts = timeouts
    this.#runtime = runtime
    this.#onEvent = onEvent
    this.#startedMs = runtime.elapsedMs()
    this.#lifeMs = this.#startedMs
    this.#timer = this.#lookIn(this.#timeoutAtMs(this.#startedMs) - this.#startedMs)
  }

  activity(): void {
    this.#lifeMs = this.#runtime.elapsedMs()
  }

  firstByte(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#lifeMs = this.#runtime.elapsedMs()
    // The silence may be over before the first byte would have been.
    if (this.#timeouts.idleMs < this.#timeouts.firstByteMs) {
      clearTimeout(this.#timer)
      this.#look()
    }
  }

  pauseIdle(): void {
    this.#isServing = true
  }

  resumeIdle(): void {
    this.#isServing = false
    this.#lifeMs = this.#runtime.elapsedMs()
  }

  startGrace(graceMs: number): void {
    if (this.#graceAtMs !== Number.POSITIVE_INFINITY) return
    this.#graceAtMs = this.#runtime.elapsedMs() + graceMs
    clearTimeout(this.#timer)
    this.#look()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #timeoutAtMs(nowMs: number): number {
    const { totalMs, idleMs, firstByteMs } = this.#timeouts
    const silentAtMs = this.#hasBegun
      ? (this.#isServing ? nowMs : this.#lifeMs) + idleMs
      : this.#startedMs + firstByteMs
    return Math.min(this.#startedMs + totalMs, silentAtMs)
  }

  #look(): void {
    const nowMs = this.#runtime.elapsedMs()
    const endsAtMs = Math.min(this.#timeoutAtMs(nowMs), this.#graceAtMs)
    // Half a millisecond: timers fire a fraction early by the finer clock.
    if (endsAtMs > nowMs + 0.5) this.#timer = this.#lookIn(endsAtMs - nowMs)
    // After the reported end no deadline makes a failure of the reply.
    else this.#onEvent(this.#graceAtMs === Number.POSITIVE_INFINITY ? 'timeout' : 'grace')
  }

  #lookIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), ms)
  }
}
