import type { ErrorReason } from './generated/wire.ts'

/** An input that is not valid. */
export interface FieldMistake {
  /** The field by its place in the request, such as `body.password`; on GraphQL from the argument on, such as `input.password`. */
  readonly field: string
  /** What was expected there, for people. */
  readonly message: string
}

/** What is known of a failure; everything but the message may be absent. */
export interface ErrorFields {
  /** The HTTP status. */
  readonly status?: number | undefined
  /** The gateway's stable word for the error. */
  readonly reason?: ErrorReason | (string & {}) | undefined
  /** What exactly went wrong, for people. */
  readonly detail?: string | undefined
  /** Every input that is at fault, in the order of the contract; `detail` says the same of the first. */
  readonly fields?: readonly FieldMistake[] | undefined
  /** The id under which the operator of the gateway finds the request. */
  readonly requestId?: string | undefined
  /** How long to wait before the next attempt. */
  readonly retryAfterMs?: number | undefined
  /** The headers of the response. */
  readonly headers?: Headers | undefined
  /** Of a failed connection, whether it was made; see {@link ConnectionError.wasConnected}. */
  readonly wasConnected?: boolean
  /** Of a failed stream, the class of the error; see {@link StreamFailedError.type}. */
  readonly type?: string | undefined
  /** Of a failed stream, the code as it was received; see {@link StreamFailedError.code}. */
  readonly code?: string | number | undefined
  /** Of a kept call, its id, where the gateway has sent it. */
  readonly callId?: string | undefined
  /** Of a kept call, its `Idempotency-Key`. */
  readonly idempotencyKey?: string | undefined
  /** Of a kept stream, the number of the last event that was received. */
  readonly lastEventId?: number | undefined
  /** The error behind this one. */
  readonly cause?: unknown
}

/** The same symbol in every copy of the package. */
const BRAND = Symbol.for('trunkline.error')

/**
 * The base of every error that the SDK throws.
 *
 * @example
 * ```ts
 * import { Trunkline, TrunklineError } from '@trunkline/sdk'
 *
 * const client = new Trunkline()
 * try {
 *   await client.chat.create({ agent: 'nobody', query: 'Hello' })
 * } catch (error) {
 *   if (!(error instanceof TrunklineError)) throw error
 *   console.log(error.name, error.status, error.reason, error.detail, error.requestId)
 * }
 * ```
 */
export class TrunklineError extends Error {
  /** The name of the class, which stays as it is where a bundler shortens names. */
  override readonly name: string = 'TrunklineError'
  /** The HTTP status, where a response was received. */
  declare readonly status: number | undefined
  /** The gateway's stable word for the error; programs should compare this one. */
  declare readonly reason: ErrorReason | (string & {}) | undefined
  /** What exactly went wrong, for people. */
  declare readonly detail: string | undefined
  /** Every input that is at fault, in the order of the contract, where inputs are; at most 50. */
  declare readonly fields: readonly FieldMistake[] | undefined
  /** The id under which the operator of the gateway finds the request. */
  declare readonly requestId: string | undefined
  /** How long the gateway asks to wait before the next attempt. */
  declare readonly retryAfterMs: number | undefined
  /** The headers of the response, where one was received. */
  declare readonly headers: Headers | undefined
  /** Of a kept call, its id, if the gateway has sent it; the methods of `client.calls` take it. */
  declare readonly callId: string | undefined
  /** Of a kept call, its `Idempotency-Key`, which names it as well. */
  declare readonly idempotencyKey: string | undefined
  /** Of a kept stream, the number of the last event that was received; `client.calls.resume` takes it as `after`. */
  declare readonly lastEventId: number | undefined

  constructor(message: string, fields: ErrorFields = {}) {
    super(message, fields)
    Object.assign(this, fields)
  }

  /**
   * Returns whether something is an error of this class, or of one below it, also where it is of another copy of the package:
   * `instanceof` does not know the errors of the CommonJS copy as those of the ES module.
   *
   * @example
   * ```ts
   * import { BadRequestError } from '@trunkline/sdk'
   *
   * try {
   *   await client.chat.create({ agent: 'nobody', query: 'Hello' })
   * } catch (error) {
   *   if (!BadRequestError.isInstance(error)) throw error
   *   console.log(error.reason)
   * }
   * ```
   */
  static isInstance<Class extends typeof TrunklineError>(
    this: Class,
    error: unknown,
  ): error is InstanceType<Class> {
    // The name of a class is that of its instances, because bundlers shorten the other one.
    const { name } = new this('')
    let other = Object(error).constructor
    while (other?.[BRAND] && new other('').name !== name) other = Object.getPrototypeOf(other)
    return Boolean(other?.[BRAND])
  }

  /** @internal */
  static readonly [BRAND] = true
}

/**
 * The gateway answered with a status that is no success. Each status of the contract has a class of its own below this one in
 * `@trunkline/sdk`, which is recognized in the same way; `@trunkline/sdk/chat` has `status` alone, to be small.
 *
 * @example
 * ```ts
 * import { NotFoundError, RateLimitError, StatusError } from '@trunkline/sdk'
 *
 * try {
 *   await client.uploads.get('00000000-0000-7000-8000-000000000000')
 * } catch (error) {
 *   if (error instanceof NotFoundError) console.log('There is no such upload.')
 *   else if (error instanceof RateLimitError) console.log(`Try again in ${error.retryAfterMs} ms.`)
 *   else if (error instanceof StatusError) console.log(error.status, error.reason)
 *   else throw error
 * }
 * ```
 */
export class StatusError extends TrunklineError {
  override readonly name: string = 'StatusError'
}

/** The classes by status, and by the reasons that have one of their own; empty in programs that import none of them. */
export const statusClasses: Partial<Record<string, typeof StatusError>> = {}

/**
 * No connection was made, or it broke before the response was complete; `cause` is the error of `fetch`, or only its text where
 * that error holds the request.
 *
 * @example
 * ```ts
 * import { ConnectionError, Trunkline } from '@trunkline/sdk'
 *
 * const nowhere = new Trunkline({ baseURL: 'http://127.0.0.1:1', maxRetries: 0 })
 * try {
 *   await nowhere.agents.list()
 * } catch (error) {
 *   if (!(error instanceof ConnectionError)) throw error
 *   console.log(error.wasConnected, error.cause)
 * }
 * ```
 */
export class ConnectionError extends TrunklineError {
  override readonly name = 'ConnectionError'
  /** False where it is certain that nothing was sent, so that the gateway has seen nothing of the request. Browsers do not tell. */
  declare readonly wasConnected: boolean

  constructor(message: string, fields?: ErrorFields) {
    super(message, { wasConnected: true, ...fields })
  }
}

/**
 * The response did not begin, or a reply that is no stream was not complete, within `timeoutMs`.
 *
 * @example
 * ```ts
 * import { TimeoutError } from '@trunkline/sdk'
 *
 * try {
 *   await client.chat.create({ agent: 'dify', query: 'sandbox:hang' }, { timeoutMs: 500 })
 * } catch (error) {
 *   if (!(error instanceof TimeoutError)) throw error
 *   console.log(error.message)
 * }
 * ```
 */
export class TimeoutError extends TrunklineError {
  override readonly name = 'TimeoutError'
}

/**
 * No byte of a stream arrived for `idleTimeoutMs`.
 *
 * @example
 * ```ts
 * import { IdleTimeoutError } from '@trunkline/sdk'
 *
 * const stream = client.chat.stream({ agent: 'dify', query: 'sandbox:silence' }, { idleTimeoutMs: 500 })
 * try {
 *   for await (const chunk of stream) console.log(chunk.choices[0]?.delta.content ?? '')
 * } catch (error) {
 *   if (!(error instanceof IdleTimeoutError)) throw error
 *   console.log('The connection is dead.')
 * }
 * ```
 */
export class IdleTimeoutError extends TrunklineError {
  override readonly name = 'IdleTimeoutError'
}

/**
 * The caller's `signal` or `.abort()` ended the call; `cause` is the reason of the signal.
 *
 * @example
 * ```ts
 * import { AbortError } from '@trunkline/sdk'
 *
 * try {
 *   await client.chat.create({ agent: 'dify', query: 'Hello' }, { signal: AbortSignal.abort('not needed') })
 * } catch (error) {
 *   if (!(error instanceof AbortError)) throw error
 *   console.log(error.cause)
 * }
 * ```
 */
export class AbortError extends TrunklineError {
  override readonly name = 'AbortError'
}

/**
 * A stream ended with neither `[DONE]` nor a finish reason, or within an event: what was received is not the whole reply.
 *
 * @example
 * ```ts
 * import { readChatStream, TruncatedStreamError } from '@trunkline/sdk'
 *
 * const response = new Response('data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n')
 * try {
 *   for await (const chunk of readChatStream(response)) console.log(chunk.choices[0]?.delta.content)
 * } catch (error) {
 *   if (!(error instanceof TruncatedStreamError)) throw error
 *   console.log('The reply is not complete.')
 * }
 * ```
 */
export class TruncatedStreamError extends TrunklineError {
  override readonly name = 'TruncatedStreamError'
}

/**
 * The agent failed after the stream had begun: the stream's last event carries `reason` and `detail`, and, where a server has
 * passed the stream on by `toResponse()`, `retryAfterMs`.
 *
 * @example
 * ```ts
 * import { StreamFailedError } from '@trunkline/sdk'
 *
 * try {
 *   await client.chat.stream({ agent: 'dify', query: 'Hello sandbox:error-midstream' }).text()
 * } catch (error) {
 *   if (!(error instanceof StreamFailedError)) throw error
 *   console.log(error.reason, error.detail)
 * }
 * ```
 */
export class StreamFailedError extends TrunklineError {
  override readonly name = 'StreamFailedError'
  /** OpenAI's class of the error, such as `server_error`, where the event had one. */
  declare readonly type: string | undefined
  /** The code as it was received: `reason`, or the number that some servers send in its place. */
  declare readonly code: string | number | undefined
}

/**
 * The response is not what the contract says: another content type, JSON that does not parse, or a line without end.
 *
 * @example
 * ```ts
 * import { InvalidResponseError, readChatStream } from '@trunkline/sdk'
 *
 * const page = new Response('<html></html>', { headers: { 'content-type': 'text/html' } })
 * try {
 *   for await (const chunk of readChatStream(page)) console.log(chunk.id)
 * } catch (error) {
 *   if (!(error instanceof InvalidResponseError)) throw error
 *   console.log(error.message)
 * }
 * ```
 */
export class InvalidResponseError extends TrunklineError {
  override readonly name = 'InvalidResponseError'
}
