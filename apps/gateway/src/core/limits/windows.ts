import { RateLimiterMemory } from 'rate-limiter-flexible'
import { handled } from '#core/handled.ts'

/** What this process has to do with one caller's current window. The count of that window is in `Windows.counts`. */
export interface LimitWindow {
  /** The calls that this process has let pass, less those that it has given back. */
  own: number
  /** The part of `own` that has been sent to Redis. */
  sent: number
  /** The calls that the other processes have let pass, as of the last answer of Redis. */
  others: number
  /** Whether Redis has lost this window, so that its count may lack what the others had let pass. */
  isRestored: boolean
  /** On the clock of `performance.now()`. */
  endsAtMs: number
}

export interface Windows {
  /** Everything that counts towards the limit, as far as this process knows. Its records end with their windows. */
  readonly counts: RateLimiterMemory
  /** The caller's current window; a fresh one where there is none. */
  open(key: string): LimitWindow
  /** The caller's current window, if there is one. */
  find(key: string): LimitWindow | undefined
  /** The callers that have a window. */
  callers(): string[]
}

/** Beyond this number the oldest windows are dropped, so that an attacker with many addresses cannot fill the memory. */
const WINDOWS_MAX = 100_000

/** The windows of one limit in this process. Windows that have ended are deleted when others begin. */
export function createWindows(windowSeconds: number, windowsMax = WINDOWS_MAX): Windows {
  const counts = new RateLimiterMemory({ points: 0, duration: windowSeconds, keyPrefix: '' })
  const windows = new Map<string, LimitWindow>()

  function find(key: string): LimitWindow | undefined {
    const window = windows.get(key)
    return window !== undefined && window.endsAtMs > performance.now() ? window : undefined
  }

  // In memory these take effect at once and cannot fail; the library's promises are for stores that are elsewhere.
  function drop(key: string): void {
    windows.delete(key)
    handled(counts.delete(key))
  }

  return {
    counts,
    find,
    callers: () => [...windows.keys()].filter(find),
    open(key) {
      const known = find(key)
      if (known !== undefined) return known
      drop(key)
      const nowMs = performance.now()
      // The map keeps the order in which windows began, which is nearly the order in which they end.
      for (const [oldest, { endsAtMs }] of windows) {
        if (endsAtMs > nowMs && windows.size < windowsMax) break
        drop(oldest)
      }
      const endsAtMs = nowMs + windowSeconds * 1000
      const window = { own: 0, sent: 0, others: 0, isRestored: false, endsAtMs }
      windows.set(key, window)
      handled(counts.set(key, 0, windowSeconds))
      return window
    },
  }
}
