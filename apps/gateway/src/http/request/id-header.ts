import { inHeader, RequestProblem } from './field-place.ts'

/**
 * The form of an id in a header. An id may be any text and a header value may not, so ids are percent-encoded in both
 * directions where they contain a `%` or anything but printable ASCII.
 */
export function headerOfId(id: string): string {
  return PLAIN_ID.test(id) ? id : encodeURIComponent(id)
}

/** Printable ASCII without `%`, and without spaces at either end, which HTTP strips. */
const PLAIN_ID = /^(?! )[\x20-\x24\x26-\x7e]*(?<! )$/

/**
 * The id in a header value of the form of {@link headerOfId}.
 *
 * @throws {@link RequestProblem} if the value is neither plain nor valid percent-encoded UTF-8
 */
export function idOfHeader(name: string, value: string): string {
  if (PLAIN_ID.test(value)) return value
  try {
    if (PRINTABLE_ASCII.test(value)) return decodeURIComponent(value)
  } catch {
    // An incomplete escape, or bytes that are not UTF-8.
  }
  throw new RequestProblem(
    inHeader(name),
    'expected printable ASCII, and percent-encoded UTF-8 for all else.',
  )
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/
