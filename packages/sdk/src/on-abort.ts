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
