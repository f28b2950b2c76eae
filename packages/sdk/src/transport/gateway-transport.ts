import {
  type ApiPromise,
  apiPromise,
  type ListPromise,
  listPromise,
  type Page,
  type WithResponse,
} from '../api-promise.ts'
import { checkOptions } from '../check-options.ts'
import type { Resolved } from '../client-options.ts'
import { AbortError, TimeoutError, TrunklineError } from '../errors.ts'
import type { CallOptions, ChatStreamOptions, ClientOptions } from '../options.ts'
import { AuthenticationError } from '../status-errors.ts'
import { type CredentialKind, Credentials } from './credentials.ts'
import { guardedResponse } from './guarded-response.ts'
import { setLongTimeout } from './long-timeout.ts'
import { onAbort, untilAborted } from './on-abort.ts'
import { RequestLogger } from './request-logger.ts'
import { invalidResponse, type RequestSpec, readObject, Transport } from './transport.ts'

/** Sends the requests of a whole client: with both kinds of credentials, envelopes and pages, which chats do not have. */
export class GatewayTransport extends Transport {
  /** A derived client shares the credentials of its parent. */
  credentials: Credentials
  /** How long a body that is read by the caller may be silent. */
  readonly idleTimeoutMs: number | undefined
  readonly #timeoutMs: number | undefined
  readonly #logger: RequestLogger

  constructor(options: Resolved<ClientOptions>) {
    super(options)
    this.idleTimeoutMs = options.idleTimeoutMs
    this.#timeoutMs = options.timeoutMs
    this.#logger = new RequestLogger(options.logger)
    this.credentials = new Credentials(options)
  }

  /** As every transport does; and where the gateway refuses a token that can be renewed, once more with the next one. */
  override async send<T>(
    given: RequestSpec,
    options: CallOptions = {},
    read: (response: Response) => Promise<T>,
  ): Promise<WithResponse<T>> {
    checkOptions(options)
    const spec = { ...given, path: pathOf(given) }
    checkDates(spec.json, 'body')
    const bearer = await this.bearerFor(spec.credential, options)
    try {
      return await super.send(spec, options, read)
    } catch (error) {
      const isRenewable = error instanceof AuthenticationError && this.credentials.refuse(error, bearer)
      if (!isRenewable || spec.canRepeat?.(error) === false) throw error
    }
    return await super.send(spec, options, read)
  }

  override async attempt<T>(
    spec: RequestSpec,
    options: CallOptions,
    bearer: string | undefined,
    read: (response: Response) => Promise<T>,
    retries: number,
  ): Promise<WithResponse<T>> {
    const startedMs = performance.now()
    const elapsedMs = () => performance.now() - startedMs
    try {
      const reply = await super.attempt(spec, options, bearer, read, retries)
      const { requestId, response } = reply
      this.#logger.answered(spec, { retries, status: response.status, requestId, elapsedMs: elapsedMs() })
      return reply
    } catch (error) {
      // The gateway gives each response an id, and each refusal a reason.
      if (error instanceof TrunklineError && error.status && !error.requestId && !error.reason)
        error.message += ' Is baseURL a gateway?'
      this.#logger.failed(spec, error, { retries, elapsedMs: elapsedMs() })
      throw error
    }
  }

  override delayBeforeRetry(failure: unknown, spec: RequestSpec, retries: number): number | undefined {
    const delayMs = super.delayBeforeRetry(failure, spec, retries)
    if (delayMs === undefined || spec.canRepeat?.(failure) === false) return undefined
    this.#logger.repeated(spec, failure, retries, delayMs)
    return delayMs
  }

  /** Sends a request whose reply has no envelope. */
  json<T>(spec: RequestSpec, options?: CallOptions): ApiPromise<T> {
    return apiPromise(this.send(spec, options, readObject<T>))
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
  async download(spec: RequestSpec, options: ChatStreamOptions = {}): Promise<Response> {
    const { signal, idleTimeoutMs = this.idleTimeoutMs } = options
    return guardedResponse(await this.open(spec, options), { signal, idleTimeoutMs })
  }

  /** Downloads a list as CSV. */
  csv(path: string, query?: object, options?: ChatStreamOptions): Promise<Response> {
    const spec = { method: 'GET', path, query: { ...query, format: 'csv' } } as const
    return this.download(spec, options)
  }

  /** Waits for `getAccessToken` as long as for a response, and no longer than the caller wants the call. */
  override async bearerFor(
    kind: CredentialKind | undefined,
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

  list<T>(
    path: string,
    query: object | undefined,
    options?: CallOptions,
    params?: RequestSpec['params'],
  ): ListPromise<T> {
    return listPromise((cursor) =>
      this.data<Page<T>>(
        { method: 'GET', path, params, query: cursor ? { ...query, cursor } : query },
        options,
      ),
    )
  }
}

/** Puts the parameters into the path, and appends those of the query that have a value. */
function pathOf({ path, params, query }: RequestSpec): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params?.[name]
    // Dots would lead to another path.
    if (typeof value !== 'string' || /^\.*$/.test(value))
      throw new TrunklineError(`${name} must be a text that is not empty.`)
    return encodeURIComponent(value)
  })
  checkDates(query, 'query')
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined)
  const texts = given.map(([name, value]): [string, string] => [
    name,
    value instanceof Date ? value.toISOString() : `${value}`,
  ])
  return texts[0] ? `${filled}?${new URLSearchParams(texts)}` : filled
}

/** JSON has no form for a date that is none, and would send null, which means something else. */
function checkDates(fields: unknown, place: string): void {
  for (const [name, value] of Object.entries(fields ?? {})) {
    if (value instanceof Date && Number.isNaN(value.getTime()))
      throw new TrunklineError(`${place}.${name} must be a valid date.`)
  }
}
