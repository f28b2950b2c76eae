import { TrunklineError } from '../errors.ts'
import type { LogFields, Logger } from '../options.ts'
import type { RequestSpec } from './transport.ts'

type Attempt = Pick<LogFields, 'retries' | 'status' | 'requestId' | 'elapsedMs'>

/** Writes the lines of the log. */
export class RequestLogger {
  readonly #logger: Logger | undefined

  constructor(logger: Logger | undefined) {
    this.#logger = logger
  }

  answered({ method, path }: RequestSpec, attempt: Attempt): void {
    this.#logger?.debug?.(`${method} ${path}: ${attempt.status}`, { method, path, ...attempt })
  }

  failed({ method, path }: RequestSpec, failure: unknown, attempt: Attempt): void {
    const { name, status, requestId } = fieldsOf(failure)
    const fields = { method, path, ...attempt, status, requestId, error: name }
    this.#logger?.debug?.(`${method} ${path}: ${status ?? name}`, fields)
  }

  repeated({ method, path }: RequestSpec, failure: unknown, retries: number, delayMs: number): void {
    const { name, status, requestId } = fieldsOf(failure)
    const fields = { method, path, retries, status, requestId, error: name, delayMs }
    const next = `retry ${retries + 1} in ${Math.round(delayMs)} ms`
    this.#logger?.warn?.(`${method} ${path}: ${String(failure)}; ${next}`, fields)
  }
}

function fieldsOf(failure: unknown): Partial<Pick<TrunklineError, 'name' | 'status' | 'requestId'>> {
  return failure instanceof TrunklineError ? failure : { name: 'Error' }
}
