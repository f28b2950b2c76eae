import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'

/** Yields the chunks of `body` until it ends, and throws its error or, as soon as the signal aborts, the signal's reason. */
export async function* untilAborted(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const source = body[Symbol.asyncIterator]()
  // One listener and one promise for each chunk: a race against a single promise of the signal would keep a callback for
  // every chunk until the end of the body.
  let interrupt: ((reason: unknown) => void) | undefined
  const onAbort = () => interrupt?.(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    for (;;) {
      signal.throwIfAborted()
      const { done, value } = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        interrupt = reject
        source.next().then(resolve, reject)
      })
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    // Not awaited, because a body that waits for its own source cannot return before that has answered.
    markRejectionHandled(source.return?.())
  }
}
