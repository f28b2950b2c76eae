import type { FastifyBaseLogger } from 'fastify'
import type { Problem } from '#core/base/errors/errors.ts'
import { errorCode } from '#core/base/values/error-code.ts'

interface Where {
  readonly reqId: string
  readonly trace_id?: string | undefined
  /** Of the field that failed, in GraphQL. */
  readonly path?: string | undefined
}

const EVERY_MS = 1_000
/** Codes come from the database, the storage and the system; whatever is beyond this number shares one line. */
const KINDS_MAX = 20

type Fault = Where & { readonly err: unknown }

/**
 * The log of the problems at which the gateway or something that it needs is at fault. Refusals appear in the request log and the
 * metrics only; so does an `unavailable` with which the gateway protects itself, which has no cause.
 *
 * While the database is away every request fails for the same reason, so each reason is logged once a second, with the number
 * of requests.
 */
export class FaultLog {
  readonly #log: FastifyBaseLogger
  /** The faults since the last line, by kind. */
  readonly #waiting = new Map<string, { count: number; last: Fault }>()

  constructor(log: FastifyBaseLogger) {
    this.#log = log
  }

  /** Logs a problem if it is a fault. */
  log(problem: Problem, where: Where): void {
    const { reason, cause } = problem
    if (reason === 'internal_error') this.#log.error({ ...where, err: cause ?? problem }, reason)
    else if (reason === 'unavailable' && cause !== undefined) this.#addOutage({ ...where, err: cause })
  }

  #addOutage(fault: Fault): void {
    const kind = this.#kindOf(fault.err)
    const waiting = this.#waiting.get(kind)
    if (waiting !== undefined) {
      waiting.count += 1
      waiting.last = fault
      return
    }
    this.#write(fault, 1)
    this.#wait(kind, fault)
  }

  #kindOf(error: unknown): string {
    const kind = errorCode(error) ?? (error instanceof Error ? error.name : typeof error)
    return this.#waiting.has(kind) || this.#waiting.size < KINDS_MAX ? kind : 'other'
  }

  #wait(kind: string, last: Fault): void {
    this.#waiting.set(kind, { count: 0, last })
    setTimeout(() => {
      const waiting = this.#waiting.get(kind)
      this.#waiting.delete(kind)
      if (waiting === undefined || waiting.count === 0) return
      this.#write(waiting.last, waiting.count)
      this.#wait(kind, waiting.last)
    }, EVERY_MS).unref()
  }

  #write(fault: Fault, count: number): void {
    this.#log.error({ ...fault, count }, 'unavailable')
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Set where the server answers requests, see {@link installProblems}. */
    faultLog: FaultLog
  }
}
