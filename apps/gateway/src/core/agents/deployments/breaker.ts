import { RecentCalls } from './recent-calls.ts'

/** `closed`: calls pass. `open`: calls are refused. `half_open`: one call at a time tries whether the deployment works again. */
export type BreakerState = 'closed' | 'open' | 'half_open'

/** Tells which period of the breaker an attempt belongs to. */
export type Ticket = number

const CONSECUTIVE_FAILURES_MAX = 5
const RECENT_CALLS_MIN = 10
const RECENT_FAILURES_SHARE = 0.5

const PROBE_EVERY_MS = 5_000
const WAIT_AFTER_TRIAL_MS_MAX = 60_000
/** Waits differ by up to this share, so that many processes do not ask a platform at the same moment. */
const SPREAD = 0.2

const RETRY_AFTER_MS_MIN = 1_000
/** Common clients (openai 4 and 5, the AI SDK) honor only a `Retry-After` below 60 seconds and retry almost at once otherwise. */
const RETRY_AFTER_MS_MAX = 59_000

/** The ticket of attempts whose result counts for nothing. */
const UNCOUNTED: Ticket = -1
/** No ticket has this number. */
const NOBODY: Ticket = 0

/**
 * Refuses calls to a deployment that fails, and finds out when it works again. It opens after 5 failures in a row, or when at
 * least half of at least 10 calls of the last 30 seconds have failed. While it is open, a probe that the platform answers makes
 * it half open; then the first success closes it.
 *
 * It has no timers: refused callers ask {@link Breaker.isProbeDue} and send the probe. All times are milliseconds of one
 * monotonic clock.
 */
export class Breaker {
  readonly #random: () => number
  readonly #recent = new RecentCalls()
  #state: BreakerState = 'closed'
  /** The latest ticket. */
  #issued: Ticket = 1
  /**
   * The ticket of the attempts whose results count now: all that began in this closed period, or the trial call of a half-open
   * one. Results of earlier periods say nothing about the deployment as it is now.
   */
  #counted: Ticket = this.#issued
  #consecutiveFailures = 0
  #openSinceMs: number | undefined
  #isProbing = false
  #probeDueMs = 0
  /** How long to wait if the next trial call fails. */
  #waitAfterTrialMs = PROBE_EVERY_MS

  /** @param random - returns numbers from 0 up to 1 */
  constructor(random: () => number) {
    this.#random = random
  }

  get state(): BreakerState {
    return this.#state
  }

  /** When calls were last known to pass: since then it has been open or half open. Undefined while it is closed. */
  get openSinceMs(): number | undefined {
    return this.#openSinceMs
  }

  /** Whether an attempt may begin. */
  mayBegin(_nowMs: number): boolean {
    return this.#state === 'closed' || (this.#state === 'half_open' && this.#counted === NOBODY)
  }

  /**
   * Begins an attempt, which must end with one of {@link Breaker.succeeded}, {@link Breaker.failed} and
   * {@link Breaker.withoutVerdict}. While half open it takes the only place. An attempt that begins although it may not, since
   * the breaker has opened after it was asked, counts for nothing.
   */
  begin(nowMs: number): Ticket {
    if (this.#state === 'closed') return this.#counted
    if (!this.mayBegin(nowMs)) return UNCOUNTED
    this.#counted = this.#nextTicket()
    return this.#counted
  }

  /** The deployment has answered the attempt. */
  succeeded(ticket: Ticket, nowMs: number): void {
    if (ticket !== this.#counted) return
    if (this.#state === 'half_open') {
      this.#close()
      return
    }
    this.#consecutiveFailures = 0
    this.#recent.add(false, nowMs)
  }

  /** The deployment has failed the attempt. */
  failed(ticket: Ticket, nowMs: number): void {
    if (ticket !== this.#counted) return
    if (this.#state === 'half_open') {
      const waitMs = this.#waitAfterTrialMs
      this.#waitAfterTrialMs = Math.min(2 * waitMs, WAIT_AFTER_TRIAL_MS_MAX)
      this.#open(nowMs, waitMs)
      return
    }
    this.#consecutiveFailures += 1
    this.#recent.add(true, nowMs)
    if (this.#hasFailedOften()) this.#open(nowMs, PROBE_EVERY_MS)
  }

  /** The attempt has ended without showing whether the deployment works, so that the next call may try. */
  withoutVerdict(ticket: Ticket, _nowMs: number): void {
    if (ticket === this.#counted && this.#state === 'half_open') this.#counted = NOBODY
  }

  /** Whether a refused caller should now probe the deployment. */
  isProbeDue(nowMs: number): boolean {
    return this.#state === 'open' && !this.#isProbing && nowMs >= this.#probeDueMs
  }

  /** A probe has been sent; {@link Breaker.probed} must follow. */
  probeBegan(_nowMs: number): void {
    this.#isProbing = true
  }

  /** A probe has ended: the platform has answered it, or not. */
  probed(hasAnswered: boolean, nowMs: number): void {
    if (!this.#isProbing) return
    this.#isProbing = false
    if (this.#state !== 'open') return
    if (hasAnswered) this.#state = 'half_open'
    else this.#probeDueMs = nowMs + this.#spread(PROBE_EVERY_MS)
  }

  /** How long a refused caller should wait: 1 to 59 seconds. */
  retryAfterMs(nowMs: number): number {
    if (this.#state !== 'open' || this.#isProbing) return RETRY_AFTER_MS_MIN
    return Math.min(Math.max(this.#probeDueMs - nowMs, RETRY_AFTER_MS_MIN), RETRY_AFTER_MS_MAX)
  }

  #hasFailedOften(): boolean {
    if (this.#consecutiveFailures >= CONSECUTIVE_FAILURES_MAX) return true
    const { calls, failures } = this.#recent
    return calls >= RECENT_CALLS_MIN && failures >= RECENT_FAILURES_SHARE * calls
  }

  #open(nowMs: number, waitMs: number): void {
    this.#state = 'open'
    this.#counted = NOBODY
    this.#openSinceMs ??= nowMs
    this.#probeDueMs = nowMs + this.#spread(waitMs)
  }

  #close(): void {
    this.#state = 'closed'
    this.#counted = this.#nextTicket()
    this.#openSinceMs = undefined
    this.#consecutiveFailures = 0
    this.#recent.clear()
    this.#waitAfterTrialMs = PROBE_EVERY_MS
  }

  #nextTicket(): Ticket {
    this.#issued += 1
    return this.#issued
  }

  #spread(ms: number): number {
    return ms * (1 - SPREAD + 2 * SPREAD * this.#random())
  }
}
