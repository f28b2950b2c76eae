import { type FieldMistake, StatusError, statusClasses } from '../errors.ts'
import { parseJson } from './parse-json.ts'
import { type ResponseHead, requestIdOf, responseFields } from './response-fields.ts'
import type { Hide } from './shown-cause.ts'
import { textIn } from './text-in.ts'

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
export function statusError(head: ResponseHead, body: unknown): StatusError {
  const [msg, detail, reason, requestId] = ['msg', 'detail', 'reason', 'request_id'].map((name) =>
    textIn(body, name),
  )
  // The body may be that of a proxy, which has no inputs at fault.
  const fields: FieldMistake[] = [Object(body).fields].flat().filter((each) => textIn(each, 'field'))
  const Class = statusClasses[reason ?? ''] ?? statusClasses[head.status] ?? StatusError
  const words = [
    [head.status, reason],
    [msg, detail === msg ? '' : detail],
  ].map((pair) => pair.filter(Boolean).join(' '))
  return new Class(words.filter(Boolean).join(': '), {
    ...responseFields(head),
    reason,
    detail,
    fields: fields[0] && fields,
    requestId: requestId ?? requestIdOf(head),
    retryAfterMs: retryAfterMs(head.headers),
  })
}

/** The wait that a response asks for by `Retry-After`, in seconds or as a date. */
export function retryAfterMs(headers: Headers, nowMs = Date.now()): number | undefined {
  const value = headers.get('retry-after') ?? ''
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Math.max(0, Date.parse(value) - nowMs)
  return waitMs >= 0 ? waitMs : undefined
}
