import { isGatewayBack } from '../ui/load-part.ts'

/** The first look comes soon, since most restarts are short; later ones are further apart, but never more than that. */
const LOOK_AFTER_MS = 1_000
const LOOK_EVERY_MS_MAX = 10_000

/** Looks again and again whether the gateway answers, and then does what had to wait. */
export class ReturnWatch {
  readonly #resume: () => Promise<boolean>
  readonly #isBack: () => Promise<boolean>
  #timer: ReturnType<typeof setTimeout> | undefined
  #isLooking = false

  /** @param resume - what waits for the gateway; returns whether it succeeded, or else it is tried again */
  constructor(resume: () => Promise<boolean>, isBack: () => Promise<boolean> = isGatewayBack) {
    this.#resume = resume
    this.#isBack = isBack
  }

  /** Does nothing while the watch is running. */
  start(): void {
    if (this.#timer === undefined && !this.#isLooking) this.#lookAfter(LOOK_AFTER_MS)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #lookAfter(delayMs: number): void {
    this.#timer = setTimeout(async () => {
      this.#isLooking = true
      const isDone = (await this.#isBack()) && (await this.#resume())
      this.#isLooking = false
      const isStopped = this.#timer === undefined
      this.#timer = undefined
      if (!isDone && !isStopped) this.#lookAfter(Math.min(2 * delayMs, LOOK_EVERY_MS_MAX))
    }, delayMs)
  }
}
