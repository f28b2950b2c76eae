import { setImmediate } from 'node:timers/promises'

/** Longer than this, a computation keeps the calls of others waiting. */
const AT_ONCE_MS = 10

/**
 * For long computations: awaited between their steps, it lets the event loop turn once in {@link AT_ONCE_MS}, and costs
 * nothing else.
 */
export function createPauses(): () => Promise<void> | undefined {
  let sinceMs = performance.now()
  return () => {
    if (performance.now() - sinceMs < AT_ONCE_MS) return undefined
    return setImmediate().then(() => {
      sinceMs = performance.now()
    })
  }
}
