import { ClientGone } from '#core/base/errors/client-gone.ts'
import { type ErrorReason, fail, Problem, type ProblemOptions } from '#core/base/errors/errors.ts'
import type { LimitName } from '#core/base/errors/limit-names.ts'

/** The most requests that wait for one thing, and the most of these that belong to one owner. */
export interface WaitingPlaces {
  readonly inAll: number
  readonly perOwner: number
}

/** Each of the requests takes seconds, so a client with more of them before it would have given up before its turn. */
export const WAITING_PLACES: WaitingPlaces = { inAll: 50, perOwner: 10 }

export interface TurnRules {
  /** The most that run at a time, added up by {@link Asking.weight}. */
  readonly atOnce: number
  /** The most of one owner that run at a time; by default, one owner may have all. */
  readonly perOwner?: number
  /** Defaults to {@link WAITING_PLACES}. */
  readonly places?: WaitingPlaces
  /** How long a request waits at most; by default, as long as it takes. */
  readonly waitMs?: number
  /** What runs and waits, as it is called in error messages, such as `reads`. */
  readonly what: string
}

/** Who wants a turn. */
export interface Asking {
  /** The user for whom the work is done, whichever credential was presented. */
  readonly owner: string
  /**
   * Aborts when the client is gone. All that ask with the same signal belong to one request, and wait in one place: the
   * fields of a GraphQL operation, or the pages of an export.
   */
  readonly signal?: AbortSignal | undefined
  /** How much of what may run at a time this takes, such as bytes; 1 by default, and at most {@link TurnRules.perOwner}. */
  readonly weight?: number
  /** Set for the rest of work that has begun, which is not refused for want of a place. */
  readonly isContinued?: boolean
}

/** Ends a turn. Calling it again does nothing. */
export type EndTurn = () => void

interface Waiting {
  readonly request: object
  readonly weight: number
  begin(): void
  refuse(problem: Problem): void
}

interface Queue {
  readonly waiting: Waiting[]
  /** How many of them belong to each request. */
  readonly requests: Map<object, number>
}

/**
 * Owners take turns at what they share: each free turn goes to the next owner that waits, and not to the next request, so
 * that an owner with many requests delays another by one of them. An owner that is alone may have all turns.
 */
export class OwnerTurns {
  readonly #rules: TurnRules
  readonly #runningOf = new Map<string, number>()
  /** Owners that wait, in the order of their turns. An owner that has had one goes to the end. */
  readonly #queues = new Map<string, Queue>()
  #running = 0
  #places = 0
  #closedBy: ErrorReason | undefined
  /** Whether one waits that its owner may have, for which there is no room. What needs less must not pass, or it would never run. */
  #isCrowded = false

  constructor(rules: TurnRules) {
    this.#rules = rules
  }

  /** The weight of all that run. */
  get running(): number {
    return this.#running
  }

  /** The number of places that are taken. */
  get waiting(): number {
    return this.#places
  }

  /**
   * Checks what {@link OwnerTurns.take} would, so that a request can be refused before it counts towards a limit.
   *
   * @throws Problem `rate_limited`, `unavailable`
   */
  requirePlace({ owner, signal, weight = 1 }: Asking): void {
    const queue = this.#queues.get(owner)
    const hasPlace = signal !== undefined && queue?.requests.has(signal) === true
    if (!hasPlace && !this.#isFree(owner, weight)) this.#requirePlace(queue)
  }

  /** Ends all waiting with this reason and refuses further requests with it. What runs may go on. */
  close(reason: ErrorReason): void {
    this.#closedBy = reason
    for (const { waiting } of [...this.#queues.values()]) {
      for (const { refuse } of [...waiting]) refuse(new Problem(reason))
    }
  }

  /**
   * Resolves when it is the owner's turn, with the function that ends the turn.
   *
   * @throws Problem `rate_limited` if the owner has as many waiting requests as it may, or has waited for its own too long;
   * `unavailable` if that is true of all owners together; `invalid_request` if the client is gone; the reason of
   * {@link OwnerTurns.close}
   */
  take(asking: Asking): Promise<EndTurn> | EndTurn {
    const { owner, signal, weight = 1 } = asking
    if (this.#closedBy !== undefined) fail(this.#closedBy)
    if (signal?.aborted === true) throw new ClientGone()
    if (this.#isFree(owner, weight)) return this.#begin(owner, weight)
    return this.#wait(asking)
  }

  /** Whether one more of this owner may run, and takes nothing that another with a right to it waits for. */
  #isFree(owner: string, weight: number): boolean {
    return this.#fits(weight) && !this.#isCrowded && this.#hasLeft(owner, weight) && !this.#queues.has(owner)
  }

  #fits(weight: number): boolean {
    return this.#running + weight <= this.#rules.atOnce
  }

  /** Whether this owner may have that much more, as far as the others let it. */
  #hasLeft(owner: string, weight: number): boolean {
    const { atOnce, perOwner = atOnce } = this.#rules
    return (this.#runningOf.get(owner) ?? 0) + weight <= perOwner
  }

  #begin(owner: string, weight: number): EndTurn {
    this.#running += weight
    this.#runningOf.set(owner, (this.#runningOf.get(owner) ?? 0) + weight)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#end(owner, weight)
    }
  }

  #end(owner: string, weight: number): void {
    this.#running -= weight
    const left = (this.#runningOf.get(owner) ?? 0) - weight
    if (left > 0) this.#runningOf.set(owner, left)
    else this.#runningOf.delete(owner)
    this.#beginNext()
  }

  #beginNext(): void {
    this.#isCrowded = false
    if (this.#closedBy !== undefined) return
    for (const [owner, queue] of this.#queues) {
      const next = queue.waiting[0]
      if (next === undefined || !this.#hasLeft(owner, next.weight)) continue
      this.#isCrowded = !this.#fits(next.weight)
      if (this.#isCrowded) return
      // Behind the others: it has had its turn. The loop comes to it again, so every turn that is free is used.
      this.#queues.delete(owner)
      this.#queues.set(owner, queue)
      next.begin()
    }
  }

  #wait({ owner, signal, weight = 1, isContinued = false }: Asking): Promise<EndTurn> {
    const { waitMs } = this.#rules
    const queue = this.#queues.get(owner) ?? { waiting: [], requests: new Map<object, number>() }
    const request = signal ?? {}
    if (!isContinued && !queue.requests.has(request)) this.#requirePlace(queue)
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      const leave = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onGone)
        this.#leave(owner, queue, waiting)
      }
      const refuse = (problem: Problem) => {
        leave()
        reject(problem)
        // It may have been the one that the others waited behind.
        this.#beginNext()
      }
      const onGone = () => refuse(new ClientGone())
      const waiting: Waiting = {
        request,
        weight,
        refuse,
        begin: () => {
          leave()
          resolve(this.#begin(owner, weight))
        },
      }
      this.#join(owner, queue, waiting)
      if (queue.waiting[0] === waiting) this.#isCrowded ||= this.#hasLeft(owner, weight)
      signal?.addEventListener('abort', onGone, { once: true })
      if (waitMs !== undefined) timer = setTimeout(() => refuse(this.#tooLong(owner, weight)), waitMs)
    })
  }

  #requirePlace(queue: Queue | undefined): void {
    const { places = WAITING_PLACES, what } = this.#rules
    if ((queue?.requests.size ?? 0) >= places.perOwner) {
      fail(
        'rate_limited',
        again(
          'waiting_of_owner',
          `${places.perOwner} ${what} of this user are waiting, which is the maximum.`,
        ),
      )
    }
    if (this.#places >= places.inAll)
      fail('unavailable', again('waiting_places', `Too many ${what} are waiting.`))
  }

  #tooLong(owner: string, weight: number): Problem {
    const { what } = this.#rules
    return this.#hasLeft(owner, weight)
      ? new Problem('unavailable', again('turns', `As many ${what} are running as can at a time.`))
      : new Problem(
          'rate_limited',
          again('turns_of_owner', `As many ${what} of this user are running as may at a time.`),
        )
  }

  #join(owner: string, queue: Queue, waiting: Waiting): void {
    const { request } = waiting
    const ofRequest = queue.requests.get(request) ?? 0
    if (ofRequest === 0) this.#places += 1
    queue.requests.set(request, ofRequest + 1)
    queue.waiting.push(waiting)
    this.#queues.set(owner, queue)
  }

  #leave(owner: string, queue: Queue, waiting: Waiting): void {
    const { request } = waiting
    queue.waiting.splice(queue.waiting.indexOf(waiting), 1)
    const ofRequest = (queue.requests.get(request) ?? 0) - 1
    if (ofRequest > 0) {
      queue.requests.set(request, ofRequest)
      return
    }
    queue.requests.delete(request)
    this.#places -= 1
    if (queue.waiting.length === 0) this.#queues.delete(owner)
  }
}

function again(limit: LimitName, detail: string): ProblemOptions {
  return { detail, limit, retryAfterSeconds: 1 }
}
