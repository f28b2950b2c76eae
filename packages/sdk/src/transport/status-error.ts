import {
  AuthenticationError,
  BadGatewayError,
  BadRequestError,
  ConflictError,
  type FieldMistake,
  GatewayTimeoutError,
  HeadersTooLargeError,
  InternalServerError,
  MethodNotAllowedError,
  NotFoundError,
  PayloadTooLargeError,
  PermissionDeniedError,
  RateLimitError,
  RequestTimeoutError,
  ServiceUnavailableError,
  StatusError,
  TokenExpiredError,
  UnsupportedMediaTypeError,
} from '../errors.ts'
import { parseJson } from './parse-json.ts'
import { type ResponseHead, responseFields } from './response-fields.ts'
import type { Hide } from './shown-cause.ts'
import { textIn } from './text-in.ts'

const CLASSES: Readonly<Record<number, typeof StatusError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  405: MethodNotAllowedError,
  408: RequestTimeoutError,
  409: ConflictError,
  413: PayloadTooLargeError,
  415: UnsupportedMediaTypeError,
  429: RateLimitError,
  431: HeadersTooLargeError,
  500: InternalServerError,
  502: BadGatewayError,
  503: ServiceUnavailableError,
  504: GatewayTimeoutError,
}

/**
 * Reads a response that is no success, which may be that of a proxy.
 *
 * @param fieldsOf returns the object with the fields of the gateway's error body, where the parsed body is none itself
 * @param hide removes the credentials of the request, which a proxy may repeat
 */
export async function readStatusError(
  response: Response,
  fieldsOf: (body: unknown) => unknown = (body) => body,
  hide: Hide = (text) => text,
): Promise<StatusError> {
  const text = hide(await response.text())
  const body = parseJson(text)
  // Of a page the beginning says more than nothing.
  return statusError(response, body === undefined ? { detail: text.slice(0, 500) } : fieldsOf(body))
}

/** Returns the error with the class of the status and the fields of an error body, as far as there are any. */
export function statusError({ status, headers }: ResponseHead, body: unknown): StatusError {
  const [msg, detail, reason, requestId] = ['msg', 'detail', 'reason', 'request_id'].map((name) =>
    textIn(body, name),
  )
  const Class = reason === 'token_expired' ? TokenExpiredError : (CLASSES[status] ?? StatusError)
  const words = [
    [status, reason],
    [msg, detail],
  ].map((pair) => pair.filter(Boolean).join(' '))
  return new Class(words.filter(Boolean).join(': '), {
    ...responseFields({ status, headers }),
    reason,
    detail,
    fields: mistakesIn(body),
    ...(requestId && { requestId }),
    retryAfterMs: retryAfterMs(headers),
  })
}

/** The inputs at fault; undefined where the body, which may be that of a proxy, has none. */
function mistakesIn(body: unknown): readonly FieldMistake[] | undefined {
  const { fields } = Object(body)
  return Array.isArray(fields) && fields.every((each) => textIn(each, 'field') && textIn(each, 'message'))
    ? fields
    : undefined
}

/** The wait that a response asks for by `Retry-After`, in seconds or as a date. */
export function retryAfterMs(headers: Headers, nowMs = Date.now()): number | undefined {
  const value = headers.get('retry-after') ?? ''
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Math.max(0, Date.parse(value) - nowMs)
  return waitMs >= 0 ? waitMs : undefined
}
