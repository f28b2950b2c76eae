import { ConnectionError, type ErrorFields } from '../errors.ts'
import { type Hide, shownCause } from './shown-cause.ts'

/** What failed before anything was sent, by the codes of Node, undici and Bun, and by the text of Deno, which has no codes. */
const NOT_SENT =
  /refused|notfound|eai_again|connect_timeout|failedtoopen|cert|(connect|getaddrinfo) e|bad port|\(connect\)/i

/**
 * Returns the error of a connection that failed, which says with what it began: the errors around that say little more than that
 * `fetch` failed.
 *
 * @param response the fields of the response, where one had begun
 */
export function connectionError(
  what: string,
  error: unknown,
  response?: ErrorFields,
  hide: Hide = (text) => text,
): ConnectionError {
  let why = error
  // Browsers do not tell, so there it is always assumed: a chat that was sent twice costs more than one that was not sent.
  let isUnsent = false
  for (let depth = 0, each = error; depth < 5 && each instanceof Error; depth++) {
    const { code, message, cause, errors }: Error & { code?: unknown; errors?: unknown } = each
    why = code ?? (message || why)
    isUnsent ||= NOT_SENT.test(`${code} ${message}`)
    // Node tries all addresses of a name, and reports the attempts in a list.
    each = cause ?? Object(errors)[0]
  }
  const text = hide(`${what}: ${why}`)
  const wasConnected = response !== undefined || !isUnsent
  return new ConnectionError(text, { ...response, wasConnected, cause: shownCause(error, hide) })
}
