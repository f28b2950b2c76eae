import {
  AbortError,
  type ErrorFields,
  IdleTimeoutError,
  TruncatedStreamError,
  type TrunklineError,
} from '../errors.ts'
import { type ByteSource, bytesOf, openBody } from './byte-source.ts'
import { connectionError } from './connection-error.ts'
import { setLongTimeout } from './long-timeout.ts'
import { abortWith } from './on-abort.ts'
import { responseFields } from './response-fields.ts'

interface GuardOptions {
  readonly signal?: AbortSignal | undefined
  /** How long no byte may arrive; 0 waits for ever. */
  readonly idleTimeoutMs?: number | undefined
  /** Returns whether what was read is whole. Without it, the end of the body is the end of the message. */
  readonly isComplete?: () => boolean
}

/**
 * Returns the response with a body that fails with an error of the SDK: with the signal, where no byte arrives for too long, and
 * where the connection breaks. Time that the reader of the body takes does not count.
 */
export function guardedResponse(response: Response, options: GuardOptions): Response {
  if (!response.body) return response
  const body = new GuardedBody(response.body, options, responseFields(response))
  // What is read has been taken by then, so that the guard knows whether it is whole.
  const stream = new ReadableStream<Uint8Array>(body, { highWaterMark: 0 })
  const headers = new Headers(response.headers)
  // They describe the bytes on the wire, which `fetch` has decoded.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  return new Response(stream, { status: response.status, statusText: response.statusText, headers })
}

class GuardedBody {
  readonly #source: ByteSource
  readonly #options: GuardOptions
  readonly #fields: ErrorFields
  readonly #endListening: () => void
  #failure: TrunklineError | undefined

  constructor(body: ReadableStream<Uint8Array>, options: GuardOptions, fields: ErrorFields) {
    this.#source = openBody(body, fields)
    this.#options = options
    this.#fields = fields
    this.#endListening = abortWith(options.signal, this)
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const bytes = await this.#read()
      if (bytes !== undefined) return controller.enqueue(bytes)
      this.#endListening()
      controller.close()
    } catch (error) {
      this.#endListening()
      controller.error(error)
    }
  }

  cancel(): void {
    this.#endListening()
    this.#source.cancel()
  }

  abort(cause: unknown): void {
    this.#fail(new AbortError('The call was aborted.', { ...this.#fields, cause }))
  }

  #fail(failure: TrunklineError): void {
    this.#failure ??= failure
    this.#source.cancel()
  }

  async #read(): Promise<Uint8Array | undefined> {
    const { idleTimeoutMs = 60_000 } = this.#options
    const timer = setLongTimeout(idleTimeoutMs, () =>
      this.#fail(new IdleTimeoutError(`No byte arrived for ${idleTimeoutMs} ms.`, this.#fields)),
    )
    const { done, value } = await this.#source
      .read()
      .catch((cause: unknown) => {
        throw (
          this.#failure ??
          connectionError('The connection broke before the response ended', cause, this.#fields)
        )
      })
      .finally(() => clearTimeout(timer))
    if (this.#failure !== undefined) throw this.#failure
    // A response takes no other form of bytes. Of those that have this one, no copy is made.
    if (done !== true) return value instanceof Uint8Array ? value : new Uint8Array(bytesOf(value))
    if (this.#options.isComplete?.() === false)
      throw new TruncatedStreamError('The stream ended before it was complete.', this.#fields)
    return undefined
  }
}
