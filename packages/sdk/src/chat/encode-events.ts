import { TrunklineError } from '../errors.ts'
import type { ChatChunk, StreamError } from '../generated/wire.ts'
import { encoder } from './byte-source.ts'

export const KEEP_ALIVE = encoder.encode(': keep-alive\n\n')
export const LAST_EVENT = encoder.encode('data: [DONE]\n\n')

export function encodeEvent(event: ChatChunk | StreamError): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(event)}\n\n`)
}

/** The last event of a stream that failed, as the gateway sends it. What is no error of the SDK's own is not disclosed. */
export function encodeError(error: unknown): Uint8Array {
  const known = error instanceof TrunklineError ? error : undefined
  return encodeEvent({
    error: {
      message: known?.detail ?? known?.message ?? 'The stream failed.',
      type: 'server_error',
      code: known?.reason ?? 'stream_failed',
      param: null,
    },
  })
}
