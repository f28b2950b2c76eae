import { addAbortListener } from 'node:events'

/** Settles like `work`, or rejects with the signal's reason as soon as it aborts. The work goes on, if nothing else ends it. */
export function inTime<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const listener = addAbortListener(signal, () => reject(signal.reason))
    work.then(
      (result) => {
        listener[Symbol.dispose]()
        resolve(result)
      },
      (error: unknown) => {
        listener[Symbol.dispose]()
        reject(error)
      },
    )
  })
}
