import { handled } from './handled.ts'
import type { Runtime } from './runtime.ts'

/** An answer that many ask for, which is looked up once for all of them. */
export interface Remembered<Answer> {
  get(): Promise<Answer>
  /** The next caller asks anew. */
  forget(): void
}

/**
 * Asks at most once at a time, and not again for `forMs` after the answer: what anybody can call without a credential costs
 * the same however often it is called. A failure is remembered as well.
 */
export function remember<Answer>(
  ask: () => Promise<Answer>,
  { runtime, forMs }: { runtime: Pick<Runtime, 'elapsedMs'>; forMs: number },
): Remembered<Answer> {
  let answer: Promise<Answer> | undefined
  let untilMs = Number.POSITIVE_INFINITY

  function askAnew(): Promise<Answer> {
    const asking = handled(ask())
    answer = asking
    untilMs = Number.POSITIVE_INFINITY
    const settled = () => {
      if (answer === asking) untilMs = runtime.elapsedMs() + forMs
    }
    asking.then(settled, settled)
    return asking
  }

  return {
    get: () => (answer === undefined || runtime.elapsedMs() >= untilMs ? askAnew() : answer),
    forget() {
      answer = undefined
    },
  }
}
