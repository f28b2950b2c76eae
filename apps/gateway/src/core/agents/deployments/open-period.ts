/** The number of an attempt: later attempts have larger ones. */
export type AttemptNumber = number

/** How often a platform that fails is probed, and how long the first trial call is waited for. */
export const PROBE_EVERY_MS = 5_000
export const WAIT_MS_MAX = 60_000
/** So many parties are remembered; the oldest is forgotten. */
export const CALLERS_MAX = 1_000
/** Waits differ by up to this share, so that many processes do not ask a platform at the same moment. */
const SPREAD = 0.2

interface Trial {
  readonly number: AttemptNumber
  readonly party: string
  readonly sinceMs: number
}

export interface OpeningOptions {
  /** The latest attempt: only attempts that began later show whether the deployment works again. */
  readonly after: AttemptNumber
  readonly nowMs: number
  /** Returns numbers from 0 up to 1. */
  readonly random: () => number
  /** Whose failures have caused it; undefined where no input can have caused them. */
  readonly contributors?: ReadonlySet<string>
}

/**
 * A time in which a deployment is taken to be broken for everybody. Its calls are refused, a probe finds out when it answers
 * again, and then one call tries it.
 *
 * The content of the requests may be the cause of the failures. So the trial is not a call of a party that contributed to the
 * open period, as long as others come; and a party that has not contributed does not wait for the probe, but tries one call at a time.
 * A trial that takes longer than the interval of probes delays only its own party, because a request can cause silence as well.
 */
export class OpenPeriod {
  readonly #after: AttemptNumber
  readonly #random: () => number
  readonly #contributors: Set<string> | undefined
  /** When a probe was answered. Undefined while none was. */
  #answeredMs: number | undefined
  #probeDueMs: number
  /** How long to wait if the next trial fails. */
  #waitMs = PROBE_EVERY_MS
  /** The call that was let through since a probe was answered. */
  #trial: Trial | undefined
  /** The trial call of a party that has not contributed. */
  #newcomer: Trial | undefined
  #newcomerCalledMs = Number.NEGATIVE_INFINITY

  constructor({ after, nowMs, random, contributors }: OpeningOptions) {
    this.#after = after
    this.#random = random
    this.#contributors = contributors && new Set(contributors)
    this.#probeDueMs = nowMs + this.#spread(PROBE_EVERY_MS)
  }

  get isHalfOpen(): boolean {
    return this.#answeredMs !== undefined || this.#newcomer !== undefined
  }

  /** Whether an attempt has begun while it was open, so that its result shows whether the deployment works again. */
  hasSeen(number: AttemptNumber): boolean {
    return number > this.#after
  }

  mayBegin(party: string, nowMs: number): boolean {
    if (this.#isNewcomer(party)) return isFree(this.#newcomer, party, nowMs)
    if (this.#answeredMs === undefined || this.#isLeftToOthers(this.#answeredMs, nowMs)) return false
    return isFree(this.#trial, party, nowMs)
  }

  /** An attempt begins. It is a trial if it may begin. */
  begin(party: string, number: AttemptNumber, nowMs: number): void {
    const isTrial = this.mayBegin(party, nowMs)
    this.noteCall(party, nowMs)
    if (!isTrial) return
    const trial = { number, party, sinceMs: nowMs }
    if (this.#isNewcomer(party)) this.#newcomer = trial
    else this.#trial = trial
  }

  /** A party calls, whether or not it is refused. */
  noteCall(party: string, nowMs: number): void {
    if (this.#isNewcomer(party)) this.#newcomerCalledMs = nowMs
  }

  /** An attempt has failed. Only the failure of a trial changes anything. */
  failed(number: AttemptNumber, nowMs: number): void {
    if (number === this.#newcomer?.number) {
      const { party } = this.#newcomer
      this.#newcomer = undefined
      this.#contribute(party)
    } else if (number === this.#trial?.number) {
      this.#trial = undefined
      this.#answeredMs = undefined
      this.#probeDueMs = nowMs + this.#spread(this.#waitMs)
      this.#waitMs = Math.min(2 * this.#waitMs, WAIT_MS_MAX)
    }
  }

  /** An attempt has ended without a verdict about the deployment, so that the next call may try. */
  withoutVerdict(number: AttemptNumber): void {
    if (number === this.#newcomer?.number) this.#newcomer = undefined
    else if (number === this.#trial?.number) this.#trial = undefined
  }

  isProbeDue(nowMs: number): boolean {
    return this.#answeredMs === undefined && nowMs >= this.#probeDueMs
  }

  /** A probe has ended that was sent when this or another open period needed one. */
  probed(hasAnswered: boolean, nowMs: number): void {
    if (!this.isProbeDue(nowMs)) return
    if (hasAnswered) this.#answeredMs = nowMs
    else this.#probeDueMs = nowMs + this.#spread(PROBE_EVERY_MS)
  }

  /** How long until it is worth to call again, as far as that is known. */
  waitMs(nowMs: number): number {
    return this.#answeredMs !== undefined ? 0 : this.#probeDueMs - nowMs
  }

  #isNewcomer(party: string): boolean {
    return this.#contributors !== undefined && !this.#contributors.has(party)
  }

  /** For one interval after the answer, if others have called. Otherwise calls that end without a verdict could keep it open. */
  #isLeftToOthers(answeredMs: number, nowMs: number): boolean {
    return nowMs - answeredMs < PROBE_EVERY_MS && nowMs - this.#newcomerCalledMs < PROBE_EVERY_MS
  }

  #contribute(party: string): void {
    const contributors = this.#contributors
    if (contributors === undefined) return
    for (const oldest of contributors) {
      if (contributors.size < CALLERS_MAX) break
      contributors.delete(oldest)
    }
    contributors.add(party)
  }

  #spread(ms: number): number {
    return spread(ms, this.#random)
  }
}

/** @param random - returns numbers from 0 up to 1 */
export function spread(ms: number, random: () => number): number {
  return ms * (1 - SPREAD + 2 * SPREAD * random())
}

function isFree(trial: Trial | undefined, party: string, nowMs: number): boolean {
  return trial === undefined || (trial.party !== party && nowMs - trial.sinceMs >= PROBE_EVERY_MS)
}
