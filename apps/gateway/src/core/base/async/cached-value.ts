import type { Runtime } from '#core/base/runtime.ts'
import { markRejectionHandled } from './mark-rejection-handled.ts'

/** A value that is loaded once for all of its readers and kept for a limited time. */
export interface CachedValue<Value> {
  get(): Promise<Value>
  /** Drops the value, so that the next reader loads it again. */
  invalidate(): void
}

/**
 * Caches what `load` returns for `ttlMs` after it arrived, and shares a load that is under way among all readers. Requests
 * without a credential can therefore be served from the database at a cost that does not grow with their number. A failure
 * is cached as well, since a database that is down would otherwise be queried once for each of those requests.
 */
export function createCachedValue<Value>(
  load: () => Promise<Value>,
  { runtime, ttlMs }: { runtime: Pick<Runtime, 'elapsedMs'>; ttlMs: number },
): CachedValue<Value> {
  let cached: Promise<Value> | undefined
  let expiresAtMs = Number.POSITIVE_INFINITY

  function reload(): Promise<Value> {
    const loading = markRejectionHandled(load())
    cached = loading
    expiresAtMs = Number.POSITIVE_INFINITY
    const onSettled = () => {
      if (cached === loading) expiresAtMs = runtime.elapsedMs() + ttlMs
    }
    loading.then(onSettled, onSettled)
    return loading
  }

  return {
    get: () => (cached === undefined || runtime.elapsedMs() >= expiresAtMs ? reload() : cached),
    invalidate() {
      cached = undefined
    },
  }
}
