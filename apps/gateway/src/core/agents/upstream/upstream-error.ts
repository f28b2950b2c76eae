import type { Failure } from '#core/agents/events.ts'
import { UndecodableContent } from './content-decoder.ts'

type UpstreamErrorReason =
  | 'agent_unreachable'
  | 'agent_timeout'
  | 'agent_malformed'
  | 'agent_truncated'
  | 'agent_error'

interface UpstreamErrorOptions {
  readonly cause?: unknown
  readonly wasBegun?: boolean
  readonly isTooLarge?: boolean
}

/** The exchange failed below the platform's protocol: no connection, no reply, or too large a reply. */
export class UpstreamError extends Error {
  readonly reason: UpstreamErrorReason
  /** Whether a part of the request may have been sent. If not, the platform has certainly not taken it. */
  readonly wasBegun: boolean
  /** Whether the reply exceeds a bound of the gateway. */
  readonly isTooLarge: boolean

  constructor(
    reason: UpstreamErrorReason,
    { cause, wasBegun = true, isTooLarge = false }: UpstreamErrorOptions = {},
  ) {
    super(reason, cause === undefined ? undefined : { cause })
    this.name = 'UpstreamError'
    this.reason = reason
    this.wasBegun = wasBegun
    this.isTooLarge = isTooLarge
  }

  /** Only a request that was never begun is `agent_unreachable`, because callers may then send it again. */
  static of(error: unknown, wasBegun: boolean): UpstreamError {
    if (error instanceof UpstreamError) return error
    if (error instanceof UndecodableContent)
      return new UpstreamError(error.isCut ? 'agent_truncated' : 'agent_malformed', { cause: error })
    if (!wasBegun) return new UpstreamError('agent_unreachable', { cause: error, wasBegun })
    return new UpstreamError(isBadHttp(error) ? 'agent_malformed' : 'agent_truncated', { cause: error })
  }

  /** No answer in time. */
  static timeout(wasBegun: boolean): UpstreamError {
    return new UpstreamError('agent_timeout', { wasBegun })
  }

  /** Whether the response broke off, or could not be read to its end. Neither matters after an answer that is whole. */
  get isOfEnd(): boolean {
    return !this.isTooLarge && (this.reason === 'agent_truncated' || this.reason === 'agent_malformed')
  }

  get failure(): Failure {
    return {
      reason: this.reason,
      ...(!this.wasBegun && { turn: 'none' }),
      ...(this.isTooLarge && { isTooLarge: true }),
      ...(this.cause instanceof UndecodableContent && { note: this.cause.message }),
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
