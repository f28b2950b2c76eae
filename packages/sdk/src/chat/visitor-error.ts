import { TrunklineError } from '../errors.ts'
import { VISITOR_ERRORS } from '../generated/visitor-errors.ts'
import type { StreamError } from '../generated/wire.ts'

/** How the failure of a stream that is passed on to a visitor is reported. */
export interface VisitorErrorOptions {
  /** Returns the message that the visitor gets, and may log the error. Without it, and if it throws, the message is a fixed one. */
  readonly onError?: ((error: unknown) => string) | undefined
}

/** The gateway's form of a stream's error, with the time to wait, which the gateway itself sends as a header. */
export interface VisitorError {
  readonly error: StreamError['error'] & { readonly retry_after_ms?: number | undefined }
}

/**
 * The last event of a stream that failed. It shows the visitor only what the gateway's table of errors allows: the error may also
 * be a proxy's page, or say what is wrong with the server's key.
 */
export async function visitorError(
  error: unknown,
  onError: VisitorErrorOptions['onError'],
): Promise<VisitorError> {
  const { reason = '', retryAfterMs } = error instanceof TrunklineError ? error : {}
  const type = VISITOR_ERRORS.get(reason)
  let message = 'The stream failed.'
  try {
    message = `${(await onError?.(error)) ?? message}`
  } catch {}
  const told = type && { type, code: reason, retry_after_ms: retryAfterMs }
  return { error: { message, type: 'server_error', code: 'stream_failed', param: null, ...told } }
}
