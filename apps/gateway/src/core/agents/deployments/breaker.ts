import type { Caller } from './caller.ts'
import { CallerBreakers, type RefusedFromNow } from './caller-breakers.ts'
import type { BreakerState } from './load.ts'
import { type AttemptNumber, OpenPeriod, PROBE_EVERY_MS, spread } from './open-period.ts'
import { RecentCalls } from './recent-calls.ts'

/** An attempt that has begun, whose result must be reported. */
export interface Ticket {
  readonly number: AttemptNumber
  readonly caller: Caller
}

/** The keys of an owner that calls alone, or was the last one to do so. */
interface KeysOfOwner {
  readonly owner: string
  /** The latest attempt before it was the only one to call. */
  readonly after: AttemptNumber
  /** Undefined until one of its attempts has failed. */
  keys: CallerBreakers | undefined
  readonly latest: LatestCallers
}

const CONSECUTIVE_MAX = 5
const RECENT_CALLS_MIN = 10
const RECENT_SHARE = 0.5

const UNASKED_AFTER_MS = 60_000
const LATELY_MS = 30_000

const RETRY_AFTER_MS_MIN = 1_000
/** Common clients (openai 4 and 5, the AI SDK) honor only a `Retry-After` below 60 seconds and retry almost at once otherwise. */
const RETRY_AFTER_MS_MAX = 59_000

/**
 * Refuses calls to a deployment that fails, and finds out when it works again.
 *
 * No caller can cause a connection to fail: after 5 such failures in a row, or when at least half of at least 10 calls of the last
 * 30 seconds have failed so, the calls of all owners are refused. Any other failure may have been caused by the request itself, and
 * one owner must not take the deployment from all: these failures are counted for each owner ({@link CallerBreakers}), and for each key of
 * an owner while no other owner calls.
 *
 * It has no timers. Whoever refuses a call asks {@link Breaker.refused} whether a probe is due; while no calls come, the routes ask
 * {@link Breaker.isProbeDue} from time to time. All times are milliseconds of one monotonic clock.
 */
export class Breaker {
  readonly #random: () => number
  readonly #attempts = { latest: 0 }
  readonly #recent = new RecentCalls()
  readonly #callers = new LatestCallers()
  #unreachableInARow = 0
  /** Attempts that began before this one say nothing about the deployment as it is now. */
  #after: AttemptNumber = 0
  /** While no connection can be made. */
  #outage: OpenPeriod | undefined
  /** Undefined until an attempt has failed. */
  #owners: CallerBreakers | undefined
  #ownKeys: KeysOfOwner | undefined
  #isProbing = false
  #hasProbeFailed = false
  #calledMs = Number.NEGATIVE_INFINITY
  #probedMs = Number.NEGATIVE_INFINITY
  /** When the next probe is due for parties that are refused by their own fault. */
  #probeDueMs = Number.NEGATIVE_INFINITY

  /** @param random - returns numbers from 0 up to 1 */
  constructor(random: () => number) {
    this.#random = random
  }

  /**
   * The state for all callers. Refusing one caller does not change it, unless that caller is the only one.
   */
  get state(): BreakerState {
    const sole = this.#callers.sole
    const ownKeys = sole !== undefined && this.#ownKeys?.owner === sole ? this.#ownKeys : undefined
    const openPeriod = this.#outage ?? this.#owners?.openPeriod ?? ownKeys?.keys?.openPeriod
    if (openPeriod !== undefined) return openPeriod.isHalfOpen ? 'half_open' : 'open'
    const key = ownKeys?.latest.sole
    const refusal = key === undefined ? undefined : ownKeys?.keys?.refusalOf(key)
    if (refusal === undefined) return 'closed'
    return refusal === 'tried' ? 'half_open' : 'open'
  }

  /**
   * The state as it is told to others: half open also where the next call would be let through. `isUnasked` says that no call has
   * come for a minute, so that the state may be out of date.
   */
  stateAt(nowMs: number): { readonly state: BreakerState; readonly isUnasked: boolean } {
    const { state } = this
    const owner = this.#callers.sole
    const key = this.#ownKeys?.latest.sole
    const isLetThrough = owner !== undefined && key !== undefined && this.mayBegin({ owner, key }, nowMs)
    return {
      state: state === 'open' && isLetThrough ? 'half_open' : state,
      isUnasked: this.#isUnasked(nowMs),
    }
  }

  #isUnasked(nowMs: number): boolean {
    return nowMs - this.#calledMs >= UNASKED_AFTER_MS
  }

  /** Whether callers that have not called recently are admitted. */
  get servesOthers(): boolean {
    return this.#outage === undefined
  }

  /** Whether an attempt may begin. */
  mayBegin({ owner, key }: Caller, nowMs: number): boolean {
    if (this.#outage !== undefined) return this.#outage.mayBegin(owner, nowMs)
    const isAlone = this.#callers.isAlone(owner, nowMs)
    return (
      (isAlone ? this.#keysOf(owner)?.mayBegin(key, nowMs) : this.#owners?.mayBegin(owner, nowMs)) ?? true
    )
  }

  /**
   * Begins an attempt, which must end with one of {@link Breaker.succeeded}, {@link Breaker.failed},
   * {@link Breaker.wasUnreachable} and {@link Breaker.withoutVerdict}; what follows changes nothing.
   */
  begin(caller: Caller, nowMs: number): Ticket {
    const { owner, key } = caller
    if (this.#ownKeys?.owner !== owner && this.#callers.isAlone(owner, nowMs))
      this.#ownKeys = {
        owner,
        after: this.#attempts.latest,
        keys: undefined,
        latest: new LatestCallers(),
      }
    this.#note(caller, nowMs)
    this.#attempts.latest += 1
    const number = this.#attempts.latest
    this.#outage?.begin(owner, number, nowMs)
    this.#owners?.begin(owner, number, nowMs)
    this.#keysOf(owner)?.begin(key, number, nowMs)
    return { number, caller }
  }

  /** The deployment has answered the attempt. */
  succeeded({ number, caller: { owner, key } }: Ticket, nowMs: number): void {
    if (!this.#wasConnected(number, nowMs)) return
    this.#owners?.succeeded(owner, number)
    this.#keysOf(owner)?.succeeded(key, number)
  }

  /**
   * The deployment has failed the attempt after a connection was made.
   *
   * @returns who is refused from now on
   */
  failed({ number, caller: { owner, key } }: Ticket, nowMs: number): RefusedFromNow {
    if (!this.#wasConnected(number, nowMs)) return undefined
    this.#owners ??= new CallerBreakers(this.#attempts, this.#random, this.#after)
    const ofOwners = this.#owners.failed(owner, number, nowMs)
    const ownKeys = this.#ownKeys?.owner === owner ? this.#ownKeys : undefined
    if (ownKeys !== undefined)
      ownKeys.keys ??= new CallerBreakers(this.#attempts, this.#random, ownKeys.after)
    const ofKeys = ownKeys?.keys?.failed(key, number, nowMs)
    const refused = this.#callers.isAlone(owner, nowMs) ? ofKeys : ofOwners
    if (refused === 'party' && nowMs >= this.#probeDueMs)
      this.#probeDueMs = nowMs + spread(PROBE_EVERY_MS, this.#random)
    return refused
  }

  /** No connection could be made for the attempt. */
  wasUnreachable({ number, caller: { owner, key } }: Ticket, nowMs: number): RefusedFromNow {
    if (this.#outage !== undefined) {
      this.#outage.failed(number, nowMs)
      return undefined
    }
    if (number <= this.#after) return undefined
    this.#owners?.wasUnreachable(owner, number, nowMs)
    this.#keysOf(owner)?.wasUnreachable(key, number, nowMs)
    this.#unreachableInARow += 1
    this.#recent.add(true, nowMs)
    if (!this.#isOftenUnreachable(nowMs)) return undefined
    this.#forget()
    this.#outage = new OpenPeriod({ after: this.#attempts.latest, nowMs, random: this.#random })
    return 'all'
  }

  /** The attempt has ended without showing whether the deployment works, so that the next call may try. */
  withoutVerdict({ number, caller: { owner, key } }: Ticket): void {
    this.#outage?.withoutVerdict(number)
    this.#owners?.withoutVerdict(owner, number)
    this.#keysOf(owner)?.withoutVerdict(key, number)
  }

  /** Notes that a call was refused. Returns whether a probe should be sent now. */
  refused(caller: Caller, nowMs: number): boolean {
    this.#note(caller, nowMs)
    if (this.#isProbing) return false
    const parties = this.#callers.isAlone(caller.owner, nowMs) ? this.#keysOf(caller.owner) : this.#owners
    const openPeriod = this.#outage ?? parties?.openPeriod
    return openPeriod === undefined ? nowMs >= this.#probeDueMs : openPeriod.isProbeDue(nowMs)
  }

  /** Whether a probe is due while no calls come: once a minute, until the platform has answered. */
  isProbeDue(nowMs: number): boolean {
    if (this.#isProbing || !this.#isUnasked(nowMs) || nowMs - this.#probedMs < UNASKED_AFTER_MS) return false
    return this.stateAt(nowMs).state === 'open'
  }

  /** A probe has been sent; {@link Breaker.probed} must follow. */
  probeBegan(): void {
    this.#isProbing = true
  }

  /** A probe has ended: the platform has answered it, or not. */
  probed(hasAnswered: boolean, nowMs: number): void {
    if (!this.#isProbing) return
    this.#isProbing = false
    this.#probedMs = nowMs
    const all = [this.#owners, this.#ownKeys?.keys]
    for (const openPeriod of [this.#outage, ...all.map((parties) => parties?.openPeriod)])
      openPeriod?.probed(hasAnswered, nowMs)
    if (hasAnswered && this.#hasProbeFailed) for (const parties of all) parties?.hasten(nowMs)
    this.#hasProbeFailed = !hasAnswered
    this.#probeDueMs = nowMs + spread(PROBE_EVERY_MS, this.#random)
  }

  /** How long a refused caller should wait: 1 to 59 seconds. */
  retryAfterMs({ owner, key }: Caller, nowMs: number): number {
    if (this.#isProbing) return RETRY_AFTER_MS_MIN
    const waitMs =
      this.#outage?.waitMs(nowMs) ??
      (this.#callers.isAlone(owner, nowMs)
        ? this.#keysOf(owner)?.waitMs(key, nowMs)
        : this.#owners?.waitMs(owner, nowMs))
    return Math.min(Math.max(waitMs ?? 0, RETRY_AFTER_MS_MIN), RETRY_AFTER_MS_MAX)
  }

  #note(caller: Caller, nowMs: number): void {
    const { owner, key } = caller
    this.#calledMs = nowMs
    this.#callers.note(owner, nowMs)
    if (this.#ownKeys?.owner === owner) this.#ownKeys.latest.note(key, nowMs)
    this.#owners?.openPeriod?.noteCall(owner, nowMs)
    this.#keysOf(owner)?.openPeriod?.noteCall(key, nowMs)
  }

  /** The deployment could be connected to. Returns whether the result of the attempt counts for those who have called. */
  #wasConnected(number: AttemptNumber, nowMs: number): boolean {
    if (this.#outage !== undefined) {
      // A failure after the connection was made does not show that no connection can be made.
      if (this.#outage.hasSeen(number)) this.#forget()
      return false
    }
    if (number <= this.#after) return false
    this.#unreachableInARow = 0
    this.#recent.add(false, nowMs)
    return true
  }

  #keysOf(owner: string): CallerBreakers | undefined {
    return this.#ownKeys?.owner === owner ? this.#ownKeys.keys : undefined
  }

  #isOftenUnreachable(nowMs: number): boolean {
    if (this.#unreachableInARow >= CONSECUTIVE_MAX) return true
    const { calls, failures } = this.#recent.count(nowMs)
    return calls >= RECENT_CALLS_MIN && failures >= RECENT_SHARE * calls
  }

  /** Forgets all failures, of all callers. */
  #forget(): void {
    this.#outage = undefined
    this.#after = this.#attempts.latest
    this.#unreachableInARow = 0
    this.#recent.clear()
    this.#owners = undefined
    this.#ownKeys = undefined
  }
}

interface Latest {
  readonly name: string
  readonly atMs: number
}

/** The last two callers with different names, which show whether a caller is the only one. */
class LatestCallers {
  #latest: Latest | undefined
  /** The latest one with another name. */
  #other: Latest | undefined

  note(name: string, nowMs: number): void {
    if (this.#latest?.name !== name) this.#other = this.#latest
    this.#latest = { name, atMs: nowMs }
  }

  /** Whether no caller with another name has called in the last 30 seconds. */
  isAlone(name: string, nowMs: number): boolean {
    const other = this.#latest?.name === name ? this.#other : this.#latest
    return other === undefined || nowMs - other.atMs >= LATELY_MS
  }

  /** The last caller, if no other one had called in the 30 seconds before; undefined otherwise. */
  get sole(): string | undefined {
    const latest = this.#latest
    return latest !== undefined && this.isAlone(latest.name, latest.atMs) ? latest.name : undefined
  }
}
