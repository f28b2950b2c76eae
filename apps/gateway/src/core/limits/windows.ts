import { RateLimiterMemory } from 'rate-limiter-flexible'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'

/** This process's share in one caller's current window. The total count of the window is in {@link Windows.counts}. */
export interface LimitWindow {
  /** The calls that this process has let through, less those that it has given back. */
  own: number
  /** The part of `own` that has been sent to Redis. */
  sent: number
  /** The calls that the other processes have let through, as of the last answer of Redis. */
  others: number
  /** Whether Redis has lost this window, so that its count may lack calls of the other processes. */
  isRestored: boolean
  /** In the time of `performance.now()`. */
  endsAtMs: number
}

export type Windows = ReturnType<typeof createWindows>

/** Above this number the oldest windows are dropped, so that an attacker with many addresses cannot exhaust the memory. */
const WINDOWS_MAX = 100_000

/** Creates the windows of one limit in this process. Windows that have ended are deleted when others are opened. */
export function createWindows(windowSeconds: number, windowsMax = WINDOWS_MAX) {
  const counts = new RateLimiterMemory({ points: 0, duration: windowSeconds, keyPrefix: '' })
  const windows = new Map<string, LimitWindow>()

  function find(key: string): LimitWindow | undefined {
    const window = windows.get(key)
    return window !== undefined && window.endsAtMs > performance.now() ? window : undefined
  }

  // The promises of the library are for remote stores: in memory its operations take effect at once and cannot fail.
  function drop(key: string): void {
    windows.delete(key)
    markRejectionHandled(counts.delete(key))
  }

  return {
    /** The total counts as far as this process knows them. Each is deleted when its window ends. */
    counts,
    /** Returns the caller's current window, if there is one. */
    find,
    /** The keys of the callers that have a current window. */
    callers: (): string[] => [...windows.keys()].filter(find),
    /** Returns the caller's current window; starts one if there is none. */
    open(key: string): LimitWindow {
      const known = find(key)
      if (known !== undefined) return known
      drop(key)
      const nowMs = performance.now()
      // A map iterates in insertion order, the order in which the windows began and, nearly, in which they end.
      for (const [oldest, { endsAtMs }] of windows) {
        if (endsAtMs > nowMs && windows.size < windowsMax) break
        drop(oldest)
      }
      const endsAtMs = nowMs + windowSeconds * 1000
      const window = { own: 0, sent: 0, others: 0, isRestored: false, endsAtMs }
      windows.set(key, window)
      markRejectionHandled(counts.set(key, 0, windowSeconds))
      return window
    },
  }
}
