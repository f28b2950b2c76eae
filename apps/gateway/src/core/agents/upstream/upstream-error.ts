import type { Failure } from '#core/agents/events.ts'

type FaultReason =
  | 'agent_unreachable'
  | 'agent_timeout'
  | 'agent_malformed'
  | 'agent_truncated'
  | 'agent_error'

/** The exchange with a platform failed below its protocol: no connection, no bytes, too many bytes. */
export class UpstreamFault extends Error {
  readonly reason: FaultReason

  constructor(reason: FaultReason, options?: { cause?: unknown }) {
    super(reason, options)
    this.name = 'UpstreamFault'
    this.reason = reason
  }

  /** Unreachable is only what cannot have got the request: a caller may then send it again. */
  static of(error: unknown, wasSent: boolean): UpstreamFault {
    if (error instanceof UpstreamFault) return error
    if (!wasSent) return new UpstreamFault('agent_unreachable', { cause: error })
    return new UpstreamFault(isBadHttp(error) ? 'agent_malformed' : 'agent_truncated', { cause: error })
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
