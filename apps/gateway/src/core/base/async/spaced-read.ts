import type { Runtime } from '#core/base/runtime.ts'
import { markRejectionHandled } from './mark-rejection-handled.ts'
import { sleep } from './sleep.ts'

/**
 * Returns a function whose result comes from a read that began after it was called. Reads run one at a time and begin at
 * least `intervalMs` apart; all calls in between share the next one, so the cost does not grow with the callers.
 */
export function createSpacedRead<Value>(
  read: () => Promise<Value>,
  { runtime, intervalMs }: { runtime: Pick<Runtime, 'elapsedMs'>; intervalMs: number },
): () => Promise<Value> {
  let last: Promise<unknown> | undefined
  let lastBeganMs = Number.NEGATIVE_INFINITY
  let next: Promise<Value> | undefined

  async function readNext(previous: Promise<unknown> | undefined): Promise<Value> {
    await previous?.catch(() => undefined)
    const waitMs = lastBeganMs + intervalMs - runtime.elapsedMs()
    if (waitMs > 0) await sleep(waitMs)
    next = undefined
    lastBeganMs = runtime.elapsedMs()
    return read()
  }

  return () => {
    if (next === undefined) {
      next = markRejectionHandled(readNext(last))
      last = next
    }
    return next
  }
}
