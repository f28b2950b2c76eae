import type { Failure } from '#core/agents/events.ts'

type UpstreamErrorReason =
  | 'agent_unreachable'
  | 'agent_timeout'
  | 'agent_malformed'
  | 'agent_truncated'
  | 'agent_error'

/** The exchange failed below the platform's protocol: no connection, no reply, or too large a reply. */
export class UpstreamError extends Error {
  readonly reason: UpstreamErrorReason

  /** `none` if the request was never begun. */
  readonly turn: 'none' | undefined

  constructor(
    reason: UpstreamErrorReason,
    { turn, ...options }: { cause?: unknown; turn?: 'none' | undefined } = {},
  ) {
    super(reason, options)
    this.name = 'UpstreamError'
    this.reason = reason
    this.turn = turn
  }

  /** Only a request that was never sent is `agent_unreachable`, because callers may then send it again. */
  static of(error: unknown, wasSent: boolean): UpstreamError {
    if (error instanceof UpstreamError) return error
    if (!wasSent) return new UpstreamError('agent_unreachable', { cause: error, turn: 'none' })
    return new UpstreamError(isBadHttp(error) ? 'agent_malformed' : 'agent_truncated', { cause: error })
  }

  /** No answer in time. */
  static timeout(wasBegun: boolean): UpstreamError {
    return new UpstreamError('agent_timeout', { turn: wasBegun ? undefined : 'none' })
  }

  get failure(): Failure {
    return { reason: this.reason, ...(this.turn !== undefined && { turn: this.turn }) }
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
