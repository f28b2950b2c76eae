import { StatusError, statusClasses } from './errors.ts'

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

/** 410: it was there and is no more, such as the reply of a kept call. */
export class GoneError extends StatusError {
  override readonly name = 'GoneError'
}

/** 413: the body or the file is too large. */
export class PayloadTooLargeError extends StatusError {
  override readonly name = 'PayloadTooLargeError'
}

/** 415: the type of the body or of the file is not accepted. */
export class UnsupportedMediaTypeError extends StatusError {
  override readonly name = 'UnsupportedMediaTypeError'
}

/** 422: the `Idempotency-Key` was used for another request. */
export class UnprocessableContentError extends StatusError {
  override readonly name = 'UnprocessableContentError'
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

// A program that imports one of the classes gets errors of them; a program that imports none need not load them.
Object.assign(statusClasses, {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  405: MethodNotAllowedError,
  408: RequestTimeoutError,
  409: ConflictError,
  410: GoneError,
  413: PayloadTooLargeError,
  415: UnsupportedMediaTypeError,
  422: UnprocessableContentError,
  429: RateLimitError,
  431: HeadersTooLargeError,
  500: InternalServerError,
  502: BadGatewayError,
  503: ServiceUnavailableError,
  504: GatewayTimeoutError,
  token_expired: TokenExpiredError,
})
