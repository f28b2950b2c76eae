import { withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Subscription } from '#core/database/database.ts'
import type { Channel } from './channel.ts'
import { testMessage } from './messages.ts'

export interface TestedSubscriptionOptions {
  readonly channel: Channel
  readonly runtime: Pick<Runtime, 'randomBytes'>
  readonly isNeeded: () => boolean
  readonly onMessage: (message: string) => void
  /** Called when messages cease to arrive, and when they arrive again. */
  readonly onArrival: (arrive: boolean, error?: unknown) => void
}

/** How long a test message may take. */
const ARRIVES_WITHIN_MS = 1_000
const TEST_EVERY_MS = 60_000
/** Longer than the time limits of the connections themselves. */
const OPEN_WITHIN_MS = 5_000
const PAUSE_MS = 100
const PAUSE_MS_MAX = 10_000
const TEST_BYTES = 12

/**
 * A subscription that is trusted only while messages are known to arrive. A pooler of transactions accepts `LISTEN` and delivers nothing, and a
 * connection may be lost without a sign. So the process sends itself a message when the connection is open, and once a minute;
 * if it does not come back, the connection is replaced by a new one. It is opened when it is first needed, and closed at the
 * next test if it is not needed any more.
 */
export class TestedSubscription {
  readonly #options: TestedSubscriptionOptions
  /** Subscriptions that are being closed. */
  readonly #closing = new Set<Promise<void>>()
  #current: Subscription | undefined
  /** Fires at the next test, or at the next attempt to connect. */
  #timer: NodeJS.Timeout | undefined
  #pauseMs = PAUSE_MS
  #test: { readonly message: string; readonly arrival: PromiseWithResolvers<void> } | undefined
  #isTrusted = false
  #wasReported = true
  #isClosed = false

  constructor(options: TestedSubscriptionOptions) {
    this.#options = options
  }

  get isTrusted(): boolean {
    return this.#isTrusted && this.#options.channel.canPublish
  }

  /** To be called when it becomes needed. */
  start(): void {
    if (this.#isClosed || this.#current !== undefined || this.#timer !== undefined) return
    const subscription = this.#options.channel.subscribe((message) => this.#receive(message))
    this.#current = subscription
    markRejectionHandled(this.#check(subscription))
    markRejectionHandled(
      subscription.ended.then(() => this.#lose(subscription, new Error('the connection was lost'))),
    )
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#drop()
    await Promise.all(this.#closing)
  }

  #receive(message: string): void {
    if (message === this.#test?.message) this.#test.arrival.resolve()
    else this.#options.onMessage(message)
  }

  async #check(subscription: Subscription): Promise<void> {
    try {
      await withDeadline(OPEN_WITHIN_MS, subscription.opened)
      if (subscription === this.#current) await withDeadline(ARRIVES_WITHIN_MS, this.#sendTest())
    } catch (error) {
      this.#lose(subscription, error)
      return
    }
    if (subscription !== this.#current) return
    this.#isTrusted = true
    this.#pauseMs = PAUSE_MS
    this.#report(true)
    this.#timer = setTimeout(() => {
      if (this.#options.isNeeded()) markRejectionHandled(this.#check(subscription))
      else this.#drop()
    }, TEST_EVERY_MS).unref()
  }

  async #sendTest(): Promise<void> {
    const { channel, runtime } = this.#options
    const message = testMessage(runtime.randomBytes(TEST_BYTES))
    const arrival = Promise.withResolvers<void>()
    this.#test = { message, arrival }
    await Promise.all([channel.publish([message]), arrival.promise])
  }

  #lose(subscription: Subscription, error: unknown): void {
    if (subscription !== this.#current) return
    const { isNeeded } = this.#options
    this.#drop()
    if (isNeeded()) this.#report(false, error)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (isNeeded()) this.start()
    }, this.#pauseMs).unref()
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX)
  }

  #drop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isTrusted = false
    this.#test?.arrival.reject(new Error('the connection is closed'))
    this.#test = undefined
    const closing = markRejectionHandled(this.#current?.close())
    this.#current = undefined
    if (closing === undefined) return
    this.#closing.add(closing)
    const closed = () => this.#closing.delete(closing)
    closing.then(closed, closed)
  }

  #report(arrive: boolean, error?: unknown): void {
    if (arrive === this.#wasReported) return
    this.#wasReported = arrive
    this.#options.onArrival(arrive, error)
  }
}
