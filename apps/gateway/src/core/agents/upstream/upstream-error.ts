import type { Failure } from '#core/agents/events.ts'
import { parseUrl } from '#core/base/values/parse-url.ts'
import { UndecodableContent } from './content-decoder.ts'

type UpstreamErrorReason =
  | 'agent_unreachable'
  | 'agent_timeout'
  | 'agent_malformed'
  | 'agent_truncated'
  | 'agent_error'
  | 'agent_misconfigured'

const ABOUT_END: ReadonlySet<UpstreamErrorReason> = new Set([
  'agent_truncated',
  'agent_malformed',
  'agent_timeout',
])

interface UpstreamErrorOptions {
  readonly cause?: unknown
  readonly wasBegun?: boolean
  readonly isTooLarge?: boolean
  readonly note?: string
}

/** The exchange failed below the platform's protocol: no connection, no reply, or too large a reply. */
export class UpstreamError extends Error {
  readonly reason: UpstreamErrorReason
  /** Whether a part of the request may have been sent. If not, the platform has certainly not taken it. */
  readonly wasBegun: boolean
  /** Whether the reply exceeds a bound of the gateway. */
  readonly isTooLarge: boolean
  /** What an operator should know of it. */
  readonly note: string | undefined

  constructor(
    reason: UpstreamErrorReason,
    { cause, wasBegun = true, isTooLarge = false, note }: UpstreamErrorOptions = {},
  ) {
    super(reason, cause === undefined ? undefined : { cause })
    this.name = 'UpstreamError'
    this.reason = reason
    this.wasBegun = wasBegun
    this.isTooLarge = isTooLarge
    this.note = note
  }

  /** Only a request that was never begun is `agent_unreachable`, because callers may then send it again. */
  static of(error: unknown, wasBegun: boolean): UpstreamError {
    if (error instanceof UpstreamError) return error
    if (error instanceof UndecodableContent)
      return new UpstreamError(error.isCut ? 'agent_truncated' : 'agent_malformed', {
        cause: error,
        note: error.message,
      })
    if (!wasBegun) return new UpstreamError('agent_unreachable', { cause: error, wasBegun })
    return new UpstreamError(isBadHttp(error) ? 'agent_malformed' : 'agent_truncated', { cause: error })
  }

  /** A redirect, which is not followed: it would send the credentials and the texts of a call to an address that nobody configured. */
  static redirect(status: number, location: string | undefined, url: string): UpstreamError {
    const target = location === undefined ? undefined : parseUrl(location, url)
    const where = target?.protocol.startsWith('http') ? target.origin : 'an address that cannot be read'
    return new UpstreamError('agent_misconfigured', { note: `redirect ${status} to ${where}` })
  }

  /** No answer in time. */
  static timeout(wasBegun: boolean): UpstreamError {
    return new UpstreamError('agent_timeout', { wasBegun })
  }

  /** Whether the response broke off, could not be read to its end, or has none in time. That does not matter after a whole answer. */
  get isAboutEnd(): boolean {
    return !this.isTooLarge && ABOUT_END.has(this.reason)
  }

  get failure(): Failure {
    return {
      reason: this.reason,
      ...(!this.wasBegun && { turn: 'none' }),
      ...(this.isTooLarge && { isTooLarge: true }),
      ...(this.note !== undefined && { note: this.note }),
    }
  }
}

/**
 * Checks the error's name, because undici gives its parser's errors no code. A body that broke off is also a
 * parser error ("EOF"), but counts as truncated and not as malformed.
 */
function isBadHttp(error: unknown): boolean {
  const { name, code, message } = error as { name?: string; code?: string; message?: string }
  return code === 'UND_ERR_HEADERS_OVERFLOW' || (name === 'HTTPParserError' && !/EOF/.test(message ?? ''))
}
