/** What this process knows of one caller's current window. */
export interface LimitWindow {
  /** Names the window in the shared store, which may lose it; empty until the store has answered. */
  id: string
  /** The count of all processes, as the store last gave it. */
  seen: number
  /** What passed here while the store did not answer, and is not in its count yet. Negative where more was given back. */
  own: number
  /** The part of `own` that a question under way takes to the store. */
  sent: number
  endsAtMs: number
}

export interface Windows {
  /** The caller's window; a fresh one where there is none, or where it is over. */
  open(key: string): LimitWindow
  /** The caller's window, if it is not over. */
  find(key: string): LimitWindow | undefined
  /** All that are not over. */
  live(): Iterable<readonly [key: string, window: LimitWindow]>
}

/** Callers beyond these lose the oldest windows: an attacker with many addresses fills no memory. */
const WINDOWS_MAX = 100_000

/** The windows of one limit in this process, by caller. Those that are over are deleted when others begin. */
export function createWindows(windowMs: number): Windows {
  const windows = new Map<string, LimitWindow>()

  function find(key: string): LimitWindow | undefined {
    const window = windows.get(key)
    return window !== undefined && window.endsAtMs > performance.now() ? window : undefined
  }

  /** They stand in the order in which they began, all are equally long, and none outlasts the first by more than that. */
  function sweep(nowMs: number): void {
    for (const [key, { endsAtMs }] of windows) {
      if (endsAtMs > nowMs && windows.size < WINDOWS_MAX) return
      windows.delete(key)
    }
  }

  return {
    find,
    live() {
      sweep(performance.now())
      return windows
    },
    open(key) {
      const known = find(key)
      if (known !== undefined) return known
      const nowMs = performance.now()
      windows.delete(key)
      sweep(nowMs)
      const window = { id: '', seen: 0, own: 0, sent: 0, endsAtMs: nowMs + windowMs }
      windows.set(key, window)
      return window
    },
  }
}
