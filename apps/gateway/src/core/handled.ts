/**
 * A promise (or what may be one) that is kept in order to be awaited later. Node ends the process for a rejection that has no
 * handler once the microtasks have run, however soon the promise would have been awaited; this one has a handler from the
 * start. Whoever awaits it gets its rejection all the same.
 */
export function handled<Work>(work: Work): Work {
  if (work instanceof Promise) work.catch(() => undefined)
  return work
}
