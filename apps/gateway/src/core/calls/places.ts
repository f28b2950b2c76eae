import type { KeyIdentity } from '#core/accounts/keys/key-limits.ts'
import type { KeyInUse, KeyWatch } from '#core/accounts/keys/key-watch.ts'
import { atMost } from '#core/base/async/at-most.ts'
import { InFlight } from '#core/base/async/in-flight.ts'
import { fail, Problem } from '#core/base/errors/errors.ts'
import { OwnerShares } from '#core/limits/sharing/owner-shares.ts'
import type { StopRequests } from './platform-stops.ts'
import type { EndedEarly, RunningCall } from './running-call.ts'

/** Limits of one process. */
export interface PlaceBounds {
  /** The most calls in progress at once, of which one owner may have all but the last tenth. */
  readonly inFlightMax: number
}

export interface PlacesDeps {
  readonly keyWatch: KeyWatch
  readonly stops: StopRequests
  readonly bounds: PlaceBounds
  readonly limits: StreamLimit
}

/** The places of chats in this process: how many there are, whose they are, and which calls are in them. */
export class Places {
  readonly keyWatch: KeyWatch
  readonly shares: OwnerShares
  readonly streams: OpenStreams
  /** The calls that have been admitted and have not ended. */
  running = 0
  readonly #stops: StopRequests
  readonly #inFlightMax: number
  /** Calls that are being admitted or run. */
  readonly #taken = new InFlight<Place>()
  #isDraining = false
  #whenEmpty: (() => void) | undefined

  constructor({ keyWatch, stops, bounds, limits }: PlacesDeps) {
    this.keyWatch = keyWatch
    this.#stops = stops
    this.#inFlightMax = bounds.inFlightMax
    this.shares = new OwnerShares(bounds.inFlightMax)
    this.streams = new OpenStreams(limits)
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /**
   * The place of a call that arrives. It must be left, whatever becomes of the call.
   *
   * @param isStream - whether the call is one of the streams that its key may hold
   * @throws Problem `draining`, `unavailable`
   */
  enter(isStream: boolean): Place {
    if (this.#isDraining) throw new Problem('draining')
    // Calls whose owner is not known yet do not count, or one owner's burst would refuse the calls of others.
    if (this.shares.taken >= this.#inFlightMax) fail('unavailable', TOO_MANY_IN_FLIGHT)
    return new Place(this, this.#taken, isStream)
  }

  /** Refuses new calls, waits for the running ones until the timeout, and then ends those that are left. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true
    const empty = new Promise<void>((resolve) => {
      this.#whenEmpty = resolve
      this.checkEmpty()
    })
    await atMost(timeoutMs, empty)
    // The process must end in time, also if a platform answers none of the stop requests that others wait for.
    this.#stops.sendAllAtOnce()
    for (const place of this.#taken.all()) place.end('drained')
    // Platforms keep generating until they receive a stop request, so these requests are awaited.
    await this.#stops.allSent()
  }

  checkEmpty(): void {
    if (this.#taken.size === 0) this.#whenEmpty?.()
  }
}

/** The place of one call, from its arrival to its end. */
export class Place {
  readonly #places: Places
  readonly #isStream: boolean
  /** The key whose stream is counted. */
  #streamOf: string | undefined
  #remove: (() => void) | undefined
  #ownerId: string | undefined
  #call: RunningCall | undefined
  #endWatch: (() => void) | undefined

  constructor(places: Places, taken: InFlight<Place>, isStream: boolean) {
    this.#places = places
    this.#isStream = isStream
    this.#remove = taken.add(this)
  }

  /** @throws Problem `unavailable`; `rate_limited` also if the key holds as many streams as it may */
  takeFor({ keyId, ownerId }: Pick<KeyIdentity, 'keyId' | 'ownerId'>): void {
    const { shares, streams } = this.#places
    if (this.#isStream) {
      streams.open(keyId)
      this.#streamOf = keyId
    }
    const refusal = shares.take(ownerId)
    if (refusal === 'all') fail('unavailable', TOO_MANY_IN_FLIGHT)
    if (refusal === 'share') fail('rate_limited', TOO_MANY_OF_OWNER)
    this.#ownerId = ownerId
  }

  /** The call that was admitted. It ends early when the process drains, when its key is not valid any more, and when it is stopped. */
  begin(call: RunningCall, key: KeyInUse): void {
    this.#call = call
    this.#places.running += 1
    this.#endWatch = this.#places.keyWatch.watch(key, (reason) => call.end('rejected', reason))
  }

  end(outcome: EndedEarly): void {
    this.#call?.end(outcome)
  }

  /** Does nothing the second time. */
  leave(): void {
    const { shares, streams } = this.#places
    if (this.#remove === undefined) return
    this.#remove()
    this.#remove = undefined
    this.#endWatch?.()
    if (this.#streamOf !== undefined) streams.close(this.#streamOf)
    if (this.#ownerId !== undefined) shares.giveBack(this.#ownerId)
    if (this.#call !== undefined) this.#places.running -= 1
    if (this.#places.isDraining) this.#places.checkEmpty()
  }
}

/** The delay is short, because any running call may end at any moment. */
const TOO_MANY_IN_FLIGHT = {
  detail: 'This gateway serves as many calls as it can.',
  limit: 'calls_in_progress',
  retryAfterSeconds: 1,
} as const

const TOO_MANY_OF_OWNER = {
  detail: 'The owner of the API key has as many calls in progress as one user may have in this gateway.',
  limit: 'calls_of_owner',
  retryAfterSeconds: 1,
} as const

/** The most open streams of one API key; undefined for no limit. It may change while streams are open. */
export interface StreamLimit {
  readonly streamsPerKey?: number | undefined
}

/** Bounds the number of streams that an API key holds open at once in this process. */
export class OpenStreams {
  readonly #limit: StreamLimit
  readonly #counts = new Map<string, number>()

  constructor(limit: StreamLimit) {
    this.#limit = limit
  }

  /**
   * Counts a stream of the key until {@link OpenStreams.close}, which must be called once.
   *
   * @throws Problem `rate_limited` if the key already holds the maximum
   */
  open(keyId: string): void {
    const perKeyMax = this.#limit.streamsPerKey
    const count = this.#counts.get(keyId) ?? 0
    if (perKeyMax !== undefined && count >= perKeyMax) {
      fail('rate_limited', {
        detail: `The API key holds ${perKeyMax} streams open, which is the maximum.`,
        limit: 'streams_per_key',
        retryAfterSeconds: 1,
      })
    }
    this.#counts.set(keyId, count + 1)
  }

  /** It is no function that {@link OpenStreams.open} returns, because every open stream would keep one. */
  close(keyId: string): void {
    const count = this.#counts.get(keyId) ?? 0
    if (count > 1) this.#counts.set(keyId, count - 1)
    else this.#counts.delete(keyId)
  }
}
