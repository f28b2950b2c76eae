import {
  type ApiPromise,
  apiPromise,
  type ListPromise,
  listPromise,
  type Page,
  type WithResponse,
} from '../api-promise.ts'
import { AbortError, AuthenticationError, TimeoutError } from '../errors.ts'
import type { CallOptions, ChatStreamOptions, ClientOptions } from '../options.ts'
import { type CredentialKind, Credentials } from './credentials.ts'
import { guardedResponse } from './guarded-response.ts'
import { setLongTimeout } from './long-timeout.ts'
import { onAbort, untilAborted } from './on-abort.ts'
import { invalidResponse, type RequestSpec, readObject, Transport } from './transport.ts'

/** Sends the requests of a whole client: with both kinds of credentials, envelopes and pages, which chats do not have. */
export class GatewayTransport extends Transport {
  readonly credentials: Credentials
  /** How long a body that is read by the caller may be silent. */
  readonly idleTimeoutMs: number | undefined
  readonly #timeoutMs: number | undefined

  constructor(options: ClientOptions) {
    super(options)
    this.idleTimeoutMs = options.idleTimeoutMs
    this.#timeoutMs = options.timeoutMs
    this.credentials = new Credentials(options)
  }

  /** As every transport does; and where the gateway refuses a token that can be renewed, once more with the next one. */
  override async send<T>(
    spec: RequestSpec,
    options: CallOptions = {},
    read: (response: Response) => Promise<T>,
  ): Promise<WithResponse<T>> {
    const bearer = await this.bearerFor(spec.credential, options)
    try {
      return await super.send(spec, options, read)
    } catch (error) {
      const isRenewable = error instanceof AuthenticationError && this.credentials.refuse(error, bearer)
      if (!isRenewable || spec.canRepeat?.(error) === false) throw error
    }
    return await super.send(spec, options, read)
  }

  /** Sends a request and returns the `data` of its envelope. */
  data<T>(spec: RequestSpec, options?: CallOptions): ApiPromise<T> {
    return apiPromise(
      this.send(spec, options, async (response) => {
        const envelope = await readObject(response)
        if (!('data' in envelope)) throw invalidResponse(response, 'an envelope with `data`')
        return envelope.data as T
      }),
    )
  }

  /** Sends a request whose reply is read as it arrives, by the caller. */
  async download(
    spec: RequestSpec,
    { idleTimeoutMs = this.idleTimeoutMs, ...options }: ChatStreamOptions = {},
  ): Promise<Response> {
    return guardedResponse(await this.open(spec, options), { signal: options.signal, idleTimeoutMs })
  }

  /** Waits for `getAccessToken` as long as for a response, and no longer than the caller wants the call. */
  override async bearerFor(
    kind: CredentialKind,
    { signal, timeoutMs }: CallOptions,
  ): Promise<string | undefined> {
    const limitMs = timeoutMs ?? this.#timeoutMs
    const waiting = new AbortController()
    const timer = setLongTimeout(limitMs || Number.POSITIVE_INFINITY, () => {
      waiting.abort(new TimeoutError(`No access token within ${limitMs} ms.`))
    })
    const endWaiting = onAbort(signal, () => {
      waiting.abort(new AbortError('The call was aborted.', { cause: signal?.reason }))
    })
    try {
      waiting.signal.throwIfAborted()
      return await untilAborted(this.credentials.bearerFor(kind), waiting.signal)
    } finally {
      clearTimeout(timer)
      endWaiting()
    }
  }

  list<T>(path: string, query: object | undefined, options?: CallOptions): ListPromise<T> {
    return listPromise((cursor) =>
      this.data<Page<T>>(
        {
          method: 'GET',
          path: withQuery(path, { ...query, ...(cursor !== undefined && { cursor }) }),
          credential: 'token',
        },
        options,
      ),
    )
  }
}

/** Appends the parameters that have a value. */
export function withQuery(path: string, query: object | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))
  return given.length === 0 ? path : `${path}?${search}`
}
