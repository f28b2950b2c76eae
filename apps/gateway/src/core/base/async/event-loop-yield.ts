import { setImmediate } from 'node:timers/promises'

/** How long a computation may block the event loop before other calls notice the delay. */
const BLOCKING_MS_MAX = 10

/**
 * Keeps long computations from blocking the event loop. The returned function is called between their steps; once
 * {@link BLOCKING_MS_MAX} have passed, it returns a promise that yields to the event loop. Otherwise it returns undefined, so
 * that awaiting can be skipped and a step costs one clock reading.
 */
export function createEventLoopYield(): () => Promise<void> | undefined {
  let sinceMs = performance.now()
  return () => {
    if (performance.now() - sinceMs < BLOCKING_MS_MAX) return undefined
    return setImmediate().then(() => {
      sinceMs = performance.now()
    })
  }
}
