import { TrunklineError } from '../errors.ts'
import { VISITOR_ERRORS } from '../generated/visitor-errors.ts'
import type { ChatChunk, StreamError } from '../generated/wire.ts'
import { encoder } from './byte-source.ts'

/** Ends the text as an event or a comment of the stream. */
export const encode = (text: string): Uint8Array => encoder.encode(`${text}\n\n`)

interface VisitorError {
  readonly error: StreamError['error'] & { readonly retry_after_ms?: number | undefined }
}

export function encodeEvent(event: ChatChunk | VisitorError): Uint8Array {
  return encode(`data: ${JSON.stringify(event)}`)
}

/** How a stream that is passed on to a visitor tells of its failure. */
export interface VisitorErrorOptions {
  /** Returns the message that the visitor gets instead of a fixed one, and may log the error. If it throws, the fixed one is sent. */
  readonly onError?: ((error: unknown) => string) | undefined
}

/**
 * The last event of a stream that failed, in the gateway's form. The visitor is told what the gateway's table of errors allows: the
 * error may also be a proxy's page, or say what is wrong with the server's key.
 */
export async function encodeError(error: unknown, { onError }: VisitorErrorOptions): Promise<Uint8Array> {
  const { reason = '', retryAfterMs } = error instanceof TrunklineError ? error : {}
  const type = VISITOR_ERRORS.get(reason)
  const code = type === undefined ? 'stream_failed' : reason
  let message = 'The stream failed.'
  try {
    message = `${(await onError?.(error)) ?? message}`
  } catch {}
  return encodeEvent({
    error: { message, type: type ?? 'server_error', code, param: null, retry_after_ms: type === undefined ? type : retryAfterMs },
  })
}
