/** The work took longer than allowed. It is not cancelled; only its result is no longer awaited. */
export class DeadlineError extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`)
    this.name = 'DeadlineError'
  }
}

/** Settles like `work`, or rejects with a {@link DeadlineError} after `ms` milliseconds. */
export async function withDeadline<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  // The event loop runs timers before it reads sockets. If the process itself was busy, the answer may already have
  // arrived without having been read, so it gets one more turn of the loop.
  const timer = setTimeout(() => setImmediate(() => reject(new DeadlineError(ms))), ms)
  work.then(resolve, reject)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
