/** Calls back once the signal is aborted, at once where it is already. Returns a function that ends the waiting. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) callback()
  else signal?.addEventListener('abort', callback, { once: true })
  return () => signal?.removeEventListener('abort', callback)
}

/** Throws the reason of the signal once it is aborted, whatever the promise does. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const endWaiting = onAbort(signal, () => reject(signal.reason))
    promise.then(resolve, reject).finally(endWaiting)
  })
}

/** Calls back once an object is collected that was dropped without having been ended. Not every edge runtime can. */
export const dropped =
  globalThis.FinalizationRegistry && new FinalizationRegistry<() => void>((endWaiting) => endWaiting())

/**
 * Aborts the owner with a signal that may live as long as the process: the signal holds the owner weakly, and forgets it once it is
 * dropped. Returns a function that ends the waiting.
 */
export function abortWith(
  signal: AbortSignal | undefined,
  owner: { abort(reason: unknown): void },
): () => void {
  const weak = weakly(owner)
  const endWaiting = onAbort(signal, () => weak.deref()?.abort(signal?.reason))
  dropped?.register(owner, endWaiting)
  return endWaiting
}

/** In a function of its own, so that no other closure holds the owner. */
function weakly<Owner extends WeakKey>(owner: Owner): Pick<WeakRef<Owner>, 'deref'> {
  return globalThis.WeakRef ? new WeakRef(owner) : { deref: () => owner }
}
