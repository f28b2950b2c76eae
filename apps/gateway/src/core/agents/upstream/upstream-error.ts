import type { Failure } from '#core/agents/events.ts'

type UpstreamErrorReason =
  | 'agent_unreachable'
  | 'agent_timeout'
  | 'agent_malformed'
  | 'agent_truncated'
  | 'agent_error'

/** The exchange with a platform failed below its protocol: no connection, no bytes, too many bytes. */
export class UpstreamError extends Error {
  readonly reason: UpstreamErrorReason

  constructor(reason: UpstreamErrorReason, options?: { cause?: unknown }) {
    super(reason, options)
    this.name = 'UpstreamError'
    this.reason = reason
  }

  /** Unreachable is only what cannot have got the request: a caller may then send it again. */
  static of(error: unknown, wasSent: boolean): UpstreamError {
    if (error instanceof UpstreamError) return error
    if (!wasSent) return new UpstreamError('agent_unreachable', { cause: error })
    return new UpstreamError(isBadHttp(error) ? 'agent_malformed' : 'agent_truncated', { cause: error })
  }

  get failure(): Failure {
    return { reason: this.reason }
  }
}

/** Told by name: undici gives its parser's errors no code. A body without its end is one of them, too: that broke off. */
function isBadHttp(error: unknown): boolean {
  const { name, code, message } = error as { name?: string; code?: string; message?: string }
  return code === 'UND_ERR_HEADERS_OVERFLOW' || (name === 'HTTPParserError' && !/EOF/.test(message ?? ''))
}
