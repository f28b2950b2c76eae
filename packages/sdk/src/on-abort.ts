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

/** Calls back once something was dropped without having been ended. Not every edge runtime can. */
const dropped = globalThis.FinalizationRegistry && new FinalizationRegistry<() => void>((end) => end())

/** Ends what the owner, which may be dropped, has left behind. The callback must not hold the owner. */
export function onDropped(owner: WeakKey, end: () => void): void {
  dropped?.register(owner, end)
}

/**
 * As {@link onAbort}, for a signal that may live as long as the process: it holds the owner weakly, and forgets the callback with
 * it. The callback must not hold the owner either.
 */
export function onAbortOf<Owner extends WeakKey>(
  signal: AbortSignal | undefined,
  owner: Owner,
  callback: (owner: Owner, reason: unknown) => void,
): () => void {
  const weak = weakly(owner)
  const endWaiting = onAbort(signal, () => {
    const left = weak.deref()
    if (left !== undefined) callback(left, signal?.reason)
  })
  onDropped(owner, endWaiting)
  return endWaiting
}

/** In a function of its own, so that no other closure holds the owner. */
function weakly<Owner extends WeakKey>(owner: Owner): Pick<WeakRef<Owner>, 'deref'> {
  return globalThis.WeakRef ? new WeakRef(owner) : { deref: () => owner }
}
