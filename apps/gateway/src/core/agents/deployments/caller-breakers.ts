import { type AttemptNumber, CALLERS_MAX, OpenPeriod, PROBE_EVERY_MS, WAIT_MS_MAX } from './open-period.ts'

const FAILURES_MAX = 5
const LATELY_MS = 30_000

/** How many attempts have begun, for all who look at the same deployment. */
export interface AttemptCount {
  readonly latest: AttemptNumber
}

/** A party whose own calls fail is refused, but for a trial now and then. */
interface Refusal {
  dueMs: number
  /** How long to wait if the next trial fails. */
  waitMs: number
  trial: AttemptNumber | undefined
}

/** What is known of a party whose latest call has failed, or which was refused. */
interface CallerFailures {
  failuresInARow: number
  /** Attempts that began before its refusal, or before the end of it, say nothing. */
  after: AttemptNumber
  refusal: Refusal | undefined
}

/** Who is refused from now on: everybody, or the party of the call. */
export type RefusedFromNow = 'all' | 'party' | undefined

/**
 * Failures that the request itself may have caused, counted for each party: an owner, or a key of an owner that calls alone.
 *
 * Five in a row of one party refuse that party: only its own trials are let through, after 5 s, and then after twice as long each
 * time, up to 60 s. A deployment is taken to be broken for everybody ({@link OpenPeriod}) once five calls of at least two parties
 * have failed within 30 s and no call has succeeded since the first of them.
 */
export class CallerBreakers {
  readonly #attempts: AttemptCount
  readonly #random: () => number
  /** The one that has failed last is the last. */
  readonly #failures = new Map<string, CallerFailures>()
  /** The times of the latest failures since anybody's call has succeeded; the party that has failed last is the last. */
  readonly #failedMs = new Map<string, number[]>()
  #after: AttemptNumber
  /** While a deployment is taken to be broken for everybody. Changed here alone. */
  openPeriod: OpenPeriod | undefined

  /** @param after - attempts that began before this one say nothing */
  constructor(attempts: AttemptCount, random: () => number, after: AttemptNumber) {
    this.#attempts = attempts
    this.#random = random
    this.#after = after
  }

  /** Whether the party is refused, or is being tried, by its own fault. */
  refusalOf(party: string): 'refused' | 'tried' | undefined {
    const refusal = this.#failures.get(party)?.refusal
    if (refusal === undefined) return undefined
    return refusal.trial === undefined ? 'refused' : 'tried'
  }

  mayBegin(party: string, nowMs: number): boolean {
    if (this.openPeriod !== undefined) return this.openPeriod.mayBegin(party, nowMs)
    const refusal = this.#failures.get(party)?.refusal
    return refusal === undefined || (refusal.trial === undefined && nowMs >= refusal.dueMs)
  }

  begin(party: string, number: AttemptNumber, nowMs: number): void {
    this.openPeriod?.begin(party, number, nowMs)
    const refusal = this.#failures.get(party)?.refusal
    if (refusal !== undefined && this.mayBegin(party, nowMs)) refusal.trial = number
  }

  succeeded(party: string, number: AttemptNumber): void {
    if (this.openPeriod !== undefined) {
      if (this.openPeriod.hasSeen(number)) this.#close()
      return
    }
    if (number <= this.#after) return
    this.#failedMs.clear()
    const failures = this.#failures.get(party)
    if (failures === undefined || number <= failures.after) return
    if (failures.refusal !== undefined) failures.after = this.#attempts.latest
    if (failures.after === 0) this.#failures.delete(party)
    failures.refusal = undefined
    failures.failuresInARow = 0
  }

  failed(party: string, number: AttemptNumber, nowMs: number): RefusedFromNow {
    if (this.openPeriod !== undefined || number <= this.#after) {
      this.openPeriod?.failed(number, nowMs)
      return undefined
    }
    const failures = this.#failures.get(party)
    const isTrial = failures?.refusal?.trial === number
    if (failures !== undefined && !isTrial && (failures.refusal !== undefined || number <= failures.after))
      return undefined
    this.#noteFailure(party, nowMs)
    if (this.#haveSeveralFailed(nowMs)) {
      this.#open(nowMs)
      return 'all'
    }
    return this.#count(party, nowMs)
  }

  /** No connection was made, which no caller can cause: it is not counted as a failure of the party, but its trial has failed. */
  wasUnreachable(party: string, number: AttemptNumber, nowMs: number): void {
    this.openPeriod?.failed(number, nowMs)
    const refusal = this.#failures.get(party)?.refusal
    if (refusal?.trial === number) postpone(refusal, nowMs)
  }

  withoutVerdict(party: string, number: AttemptNumber): void {
    this.openPeriod?.withoutVerdict(number)
    const refusal = this.#failures.get(party)?.refusal
    if (refusal?.trial === number) refusal.trial = undefined
  }

  /** The platform answers probes again, after it had not: parties that are refused may try at once. */
  hasten(nowMs: number): void {
    for (const { refusal } of this.#failures.values()) {
      if (refusal === undefined) continue
      refusal.dueMs = Math.min(refusal.dueMs, nowMs)
      refusal.waitMs = PROBE_EVERY_MS
    }
  }

  /** How long until it is worth for a refused party to call again, as far as that is known. */
  waitMs(party: string, nowMs: number): number {
    if (this.openPeriod !== undefined) return this.openPeriod.waitMs(nowMs)
    const refusal = this.#failures.get(party)?.refusal
    return refusal === undefined || refusal.trial !== undefined ? 0 : refusal.dueMs - nowMs
  }

  #count(party: string, nowMs: number): RefusedFromNow {
    const failures = this.#failures.get(party) ?? { failuresInARow: 0, after: 0, refusal: undefined }
    // First deleted, so that it becomes the youngest.
    this.#failures.delete(party)
    forgetOldest(this.#failures)
    this.#failures.set(party, failures)
    if (failures.refusal !== undefined) {
      postpone(failures.refusal, nowMs)
      return undefined
    }
    failures.failuresInARow += 1
    if (failures.failuresInARow < FAILURES_MAX) return undefined
    failures.after = this.#attempts.latest
    failures.refusal = { dueMs: nowMs + PROBE_EVERY_MS, waitMs: 2 * PROBE_EVERY_MS, trial: undefined }
    return 'party'
  }

  #noteFailure(party: string, nowMs: number): void {
    // Together with one failure of another party these are enough to open.
    const latest = (this.#failedMs.get(party) ?? []).slice(2 - FAILURES_MAX)
    this.#failedMs.delete(party)
    forgetOldest(this.#failedMs)
    this.#failedMs.set(party, [...latest, nowMs])
  }

  #haveSeveralFailed(nowMs: number): boolean {
    const isLate = (atMs: number) => nowMs - atMs < LATELY_MS
    for (const [party, times] of this.#failedMs) {
      if (isLate(times.at(-1) ?? 0)) break
      this.#failedMs.delete(party)
    }
    if (this.#failedMs.size < 2) return false
    let failures = 0
    for (const times of this.#failedMs.values()) {
      failures += times.filter(isLate).length
      if (failures >= FAILURES_MAX) return true
    }
    return false
  }

  #open(nowMs: number): void {
    this.openPeriod = new OpenPeriod({
      after: this.#attempts.latest,
      nowMs,
      random: this.#random,
      contributors: new Set(this.#failedMs.keys()),
    })
    // The cause of the failures is not known, so the counts of all parties begin anew when it closes.
    this.#failures.clear()
    this.#failedMs.clear()
  }

  #close(): void {
    this.openPeriod = undefined
    this.#after = this.#attempts.latest
  }
}

function postpone(refusal: Refusal, nowMs: number): void {
  refusal.trial = undefined
  refusal.dueMs = nowMs + refusal.waitMs
  refusal.waitMs = Math.min(2 * refusal.waitMs, WAIT_MS_MAX)
}

function forgetOldest(parties: Map<string, unknown>): void {
  for (const oldest of parties.keys()) {
    if (parties.size < CALLERS_MAX) return
    parties.delete(oldest)
  }
}
