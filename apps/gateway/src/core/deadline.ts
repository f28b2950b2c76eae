/** The work took too long. It goes on; nobody waits for it any more. */
export class DeadlineError extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`)
    this.name = 'DeadlineError'
  }
}

export function withDeadline<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    // Timers come before sockets: in a process that was busy itself, the answer may be here and unread.
    const timer = setTimeout(() => setImmediate(() => reject(new DeadlineError(ms))), ms)
    work.then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
