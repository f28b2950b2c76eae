import { DeadlineError } from '#core/base/async/deadline.ts'
import { fail, Problem } from '#core/base/errors/errors.ts'
import type { CallOutcome } from '#core/ledger/call-kinds.ts'
import { StorageError } from '#core/uploads/storage/storage.ts'

export interface UploadTimes {
  /** How long a client may send nothing, and how long the storage may accept nothing. */
  readonly stalledMs: number
  /** How long an upload may take in all. */
  readonly timeoutMs: number
}

/** The reason why an upload was ended from outside, with the outcome that the ledger records. */
export class UploadEnded extends Error {
  readonly outcome: CallOutcome
  readonly problem: Problem

  constructor(outcome: CallOutcome, problem: Problem) {
    super(outcome)
    this.outcome = outcome
    this.problem = problem
  }
}

/**
 * What an upload waits for: its client or the storage. Every wait ends when the side that is waited for makes no progress
 * for too long, or when the upload is ended from outside; `signal` then aborts the work of the storage.
 */
export class UploadWaits {
  readonly #times: UploadTimes
  readonly #controller = new AbortController()
  readonly #totalTimer: NodeJS.Timeout
  #storageTimer: NodeJS.Timeout | undefined
  /** Rejects the waits in progress: the storage reads the file, which in turn waits for the client. */
  readonly #rejects = new Set<(error: unknown) => void>()

  constructor(times: UploadTimes) {
    this.#times = times
    this.#totalTimer = setTimeout(() => this.end(tooSlow(times.timeoutMs)), times.timeoutMs)
    this.signal.addEventListener(
      'abort',
      () => {
        for (const reject of this.#rejects) reject(this.signal.reason)
      },
      { once: true },
    )
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(reason: Error): void {
    this.#controller.abort(reason)
  }

  /** @throws Problem `invalid_request` if the client sends nothing for too long */
  async forClient<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await this.#until(work, this.#times.stalledMs)
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error
      const seconds = Math.ceil(this.#times.stalledMs / 1000)
      return fail('invalid_request', { field: [], detail: `stopped arriving for ${seconds} s.` })
    }
  }

  /** For work that has a time limit of its own. */
  until<Result>(work: Promise<Result>): Promise<Result> {
    return this.#until(work, undefined)
  }

  /** Limits the time until {@link stopStoring} is called. */
  startStoring(): void {
    const { stalledMs } = this.#times
    this.#storageTimer = setTimeout(() => {
      this.end(new StorageError(`The storage accepted nothing for ${stalledMs} ms.`))
    }, stalledMs)
  }

  stopStoring(): void {
    clearTimeout(this.#storageTimer)
  }

  /** Must be called when the upload is over. */
  close(): void {
    clearTimeout(this.#totalTimer)
    clearTimeout(this.#storageTimer)
  }

  #until<Result>(work: Promise<Result>, ms: number | undefined): Promise<Result> {
    return new Promise((resolve, reject) => {
      const timer = ms === undefined ? undefined : setTimeout(() => reject(new DeadlineError(ms)), ms)
      this.#rejects.add(reject)
      const stop = () => {
        clearTimeout(timer)
        this.#rejects.delete(reject)
      }
      // Also of an upload that has ended, since the rejection of its work must be handled all the same.
      work.finally(stop).then(resolve, reject)
      if (this.signal.aborted) reject(this.signal.reason)
    })
  }
}

function tooSlow(ms: number): UploadEnded {
  const detail = `took more than ${Math.ceil(ms / 1000)} s to arrive.`
  return new UploadEnded('rejected', new Problem('invalid_request', { field: [], detail }))
}
