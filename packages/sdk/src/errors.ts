import type { ErrorReason } from './generated/wire.ts'
import { wasConnected } from './transport/was-connected.ts'

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
  /** The error behind this one. */
  readonly cause?: unknown
}

/**
 * The base of every error that the SDK throws.
 *
 * @example
 * ```ts
 * import { Trunkline, TrunklineError } from '@trunkline/sdk'
 *
 * const client = new Trunkline({
 *   baseURL: process.env.TRUNKLINE_URL ?? '',
 *   apiKey: process.env.TRUNKLINE_API_KEY,
 * })
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

  constructor(message: string, fields: ErrorFields = {}) {
    super(message, fields)
    Object.assign(this, fields)
  }
}

/**
 * The gateway answered with a status that is no success. Each status of the contract has a class of its own below this one,
 * which is told apart in the same way.
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

/**
 * 400: the request is not valid; `fields` names every field at fault, and `detail` the first of them.
 *
 * @example
 * ```ts
 * import { BadRequestError } from '@trunkline/sdk'
 *
 * try {
 *   await client.users.create({ username: 'a', password: 'short' })
 * } catch (error) {
 *   if (!(error instanceof BadRequestError)) throw error
 *   for (const { field, message } of error.fields ?? []) console.log(field, message)
 * }
 * ```
 */
export class BadRequestError extends StatusError {
  override readonly name = 'BadRequestError'
}

/** 401: the credential is missing, not valid any more, or of the wrong kind. */
export class AuthenticationError extends StatusError {
  override readonly name: string = 'AuthenticationError'
}

/** 403: the credential is good, but does not permit this. */
export class PermissionDeniedError extends StatusError {
  override readonly name = 'PermissionDeniedError'
}

/** 404: there is nothing with this id, or it is another user's. */
export class NotFoundError extends StatusError {
  override readonly name = 'NotFoundError'
}

/** 405: the path has no such method; a proxy or a `baseURL` with a wrong path is the usual cause. */
export class MethodNotAllowedError extends StatusError {
  override readonly name = 'MethodNotAllowedError'
}

/** 408: the request took too long to arrive. */
export class RequestTimeoutError extends StatusError {
  override readonly name = 'RequestTimeoutError'
}

/** 409: a conflict, such as a username that is taken or a conversation that is busy. */
export class ConflictError extends StatusError {
  override readonly name = 'ConflictError'
}

/** 413: the body or the file is too large. */
export class PayloadTooLargeError extends StatusError {
  override readonly name = 'PayloadTooLargeError'
}

/** 415: the type of the body or of the file is not accepted. */
export class UnsupportedMediaTypeError extends StatusError {
  override readonly name = 'UnsupportedMediaTypeError'
}

/** 429: a rate limit or a quota is used up; `retryAfterMs` says when to try again. */
export class RateLimitError extends StatusError {
  override readonly name = 'RateLimitError'
}

/** 431: the headers are too large. */
export class HeadersTooLargeError extends StatusError {
  override readonly name = 'HeadersTooLargeError'
}

/** 500: the gateway failed. */
export class InternalServerError extends StatusError {
  override readonly name = 'InternalServerError'
}

/** 502: the agent's platform failed. */
export class BadGatewayError extends StatusError {
  override readonly name = 'BadGatewayError'
}

/** 503: the gateway is restarting, or something that it needs is down. */
export class ServiceUnavailableError extends StatusError {
  override readonly name = 'ServiceUnavailableError'
}

/** 504: the agent's platform did not answer in time. */
export class GatewayTimeoutError extends StatusError {
  override readonly name = 'GatewayTimeoutError'
}

/**
 * The access token has expired, and the client has no `getAccessToken` with which to renew it.
 *
 * @example
 * ```ts
 * import { TokenExpiredError } from '@trunkline/sdk'
 *
 * try {
 *   await client.me()
 * } catch (error) {
 *   if (!(error instanceof TokenExpiredError)) throw error
 *   await client.login({ username: 'alice', password: 'a long passphrase' })
 * }
 * ```
 */
export class TokenExpiredError extends AuthenticationError {
  override readonly name = 'TokenExpiredError'
}

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
  /** False where it is certain that no connection was made, so that the gateway has seen nothing of the request. */
  get wasConnected(): boolean {
    return wasConnected(this.cause)
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
