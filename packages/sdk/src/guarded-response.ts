import { bytesOf, openSource } from './chat/byte-source.ts'
import { IdleWatch } from './chat/idle-watch.ts'
import {
  AbortError,
  ConnectionError,
  IdleTimeoutError,
  TruncatedStreamError,
  TrunklineError,
} from './errors.ts'
import { onAbort } from './on-abort.ts'
import { responseFields } from './response-fields.ts'

const IDLE_TIMEOUT_MS = 60_000

interface GuardOptions {
  readonly signal?: AbortSignal | undefined
  /** How long no byte may arrive; 0 waits for ever. */
  readonly idleTimeoutMs?: number | undefined
  /** Returns whether what was read is whole. Without it, the end of the body is the end of the message. */
  readonly isComplete?: () => boolean
  readonly onFailure?: (error: TrunklineError) => void
}

/**
 * Returns the response with a body that fails with an error of the SDK: with the signal, where no byte arrives for too long, and
 * where the connection breaks. Time that the reader of the body takes does not count.
 */
export function guardedResponse(
  response: Response,
  { signal, idleTimeoutMs = IDLE_TIMEOUT_MS, isComplete, onFailure }: GuardOptions,
): Response {
  if (response.body === null) return response
  const fields = responseFields(response)
  const source = openSource(response.body)
  let failure: TrunklineError | undefined
  const fail = (error: TrunklineError) => {
    failure ??= error
    source.cancel()
  }
  const idle = new IdleWatch(idleTimeoutMs, () =>
    fail(new IdleTimeoutError(`No byte of the response arrived for ${idleTimeoutMs} ms.`, fields)),
  )
  const endWaiting = onAbort(signal, () =>
    fail(new AbortError('The call was aborted.', { ...fields, cause: signal?.reason })),
  )
  const end = () => {
    idle.close()
    endWaiting()
  }

  async function read(): Promise<Uint8Array | undefined> {
    idle.begin()
    const { done, value } = await source.read().catch((cause: unknown) => {
      throw (
        failure ??
        new ConnectionError('The connection broke before the response ended.', { ...fields, cause })
      )
    })
    idle.end()
    if (failure !== undefined) throw failure
    if (done !== true) return bytesOf(value)
    if (isComplete?.() === false)
      throw new TruncatedStreamError('The stream ended before it was complete.', fields)
    return undefined
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const bytes = await read()
          if (bytes !== undefined) return controller.enqueue(bytes)
          end()
          controller.close()
        } catch (error) {
          end()
          if (error instanceof TrunklineError) onFailure?.(error)
          controller.error(error)
        }
      },
      cancel() {
        end()
        source.cancel()
      },
    },
    // What is read has been taken by then, so that the guard knows whether it is whole.
    { highWaterMark: 0 },
  )
  const headers = new Headers(response.headers)
  // They describe the bytes on the wire, which `fetch` has decoded.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  return new Response(body, { status: response.status, statusText: response.statusText, headers })
}
