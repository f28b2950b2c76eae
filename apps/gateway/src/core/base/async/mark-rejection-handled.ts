/**
 * Attaches a rejection handler that does nothing, and returns the same promise; other values are returned unchanged. It is
 * for promises that are stored and awaited later: Node emits `unhandledRejection`, which by default ends the process, for a
 * promise that rejects and has no handler when the microtask queue is empty. Awaiting the promise still throws its error.
 */
export function markRejectionHandled<Work>(work: Work): Work {
  if (work instanceof Promise) work.catch(() => undefined)
  return work
}
