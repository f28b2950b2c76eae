import type { Timeouts } from '#core/agents/adapter.ts'
import type { Runtime } from '#core/base/runtime.ts'

export type DeadlineEvent = 'timeout' | 'grace'

/**
 * The deadlines of one reply: first byte, idle time, total time and the grace period after the reported end. They share one
 * timer. An event only stores a time, which is checked when the timer fires; this saves restarting a timer for every event.
 */
export class ReplyDeadlines {
  readonly #timeouts: Timeouts
  readonly #runtime: Runtime
  readonly #onEvent: (event: DeadlineEvent) => void
  readonly #startedMs: number
  #hasBegun = false
  #isIdlePaused = false
  #lifeMs: number
  #graceAtMs = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout

  /**
   * @param onEvent - called at most once: `grace` when the grace period has ended or a deadline passed during it, otherwise
   * `timeout`
   */
  constructor(timeouts: Timeouts, runtime: Runtime, onEvent: (event: DeadlineEvent) => void) {
    this.#timeouts = timeouts
    this.#runtime = runtime
    this.#onEvent = onEvent
    this.#startedMs = runtime.elapsedMs()
    this.#lifeMs = this.#startedMs
    this.#timer = this.#lookIn(this.#timeoutAtMs(this.#startedMs) - this.#startedMs)
  }

  /** Restarts the idle time. Called for events, but not for pings. */
  activity(): void {
    this.#lifeMs = this.#runtime.elapsedMs()
  }

  /** Ends the first-byte deadline and starts the idle time; later calls have no effect. */
  firstByte(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#lifeMs = this.#runtime.elapsedMs()
    // The idle time may end before the first-byte deadline for which the timer is set.
    if (this.#timeouts.idleMs < this.#timeouts.firstByteMs) {
      clearTimeout(this.#timer)
      this.#look()
    }
  }

  /** Suspends the idle time while the gateway waits for the client and does not read from the platform. */
  pauseIdle(): void {
    this.#isIdlePaused = true
  }

  /** Restarts the idle time when the platform is read again. */
  resumeIdle(): void {
    this.#isIdlePaused = false
    this.#lifeMs = this.#runtime.elapsedMs()
  }

  /** Starts the grace period for what the platform sends after it reported the end; further calls have no effect. */
  startGrace(graceMs: number): void {
    if (this.#graceAtMs !== Number.POSITIVE_INFINITY) return
    this.#graceAtMs = this.#runtime.elapsedMs() + graceMs
    clearTimeout(this.#timer)
    this.#look()
  }

  /** The reported end was withdrawn: a passed deadline is a timeout again, until another end starts a grace period. */
  endGrace(): void {
    if (this.#graceAtMs === Number.POSITIVE_INFINITY) return
    this.#graceAtMs = Number.POSITIVE_INFINITY
    clearTimeout(this.#timer)
    this.#look()
  }

  /** Cancels all deadlines. */
  stop(): void {
    clearTimeout(this.#timer)
  }

  #timeoutAtMs(nowMs: number): number {
    const { totalMs, idleMs, firstByteMs } = this.#timeouts
    const silentAtMs = this.#hasBegun
      ? (this.#isIdlePaused ? nowMs : this.#lifeMs) + idleMs
      : this.#startedMs + firstByteMs
    return Math.min(this.#startedMs + totalMs, silentAtMs)
  }

  #look(): void {
    const nowMs = this.#runtime.elapsedMs()
    const endsAtMs = Math.min(this.#timeoutAtMs(nowMs), this.#graceAtMs)
    // The tolerance of half a millisecond is for timers that fire slightly early by the more precise clock.
    if (endsAtMs > nowMs + 0.5) this.#timer = this.#lookIn(endsAtMs - nowMs)
    // After the reported end a passed deadline no longer fails the reply.
    else this.#onEvent(this.#graceAtMs === Number.POSITIVE_INFINITY ? 'timeout' : 'grace')
  }

  #lookIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), ms)
  }
}

/**
 * The time limits of an attempt: that of the first byte may be shorter where another deployment could answer, and the attempts of
 * a call have its total time together.
 *
 * @param passedMs - what earlier attempts of the call have taken; 0 for the first one
 */
export function timeoutsOfAttempt(timeouts: Timeouts, firstByteMs: number, passedMs: number): Timeouts {
  if (firstByteMs === timeouts.firstByteMs && passedMs === 0) return timeouts
  return { ...timeouts, firstByteMs, totalMs: Math.max(1, timeouts.totalMs - passedMs) }
}
