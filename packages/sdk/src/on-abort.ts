/** Calls back once the signal is aborted, at once where it is already. Returns a function that ends the waiting. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted === true) callback()
  else signal?.addEventListener('abort', callback, { once: true })
  return () => signal?.removeEventListener('abort', callback)
}
