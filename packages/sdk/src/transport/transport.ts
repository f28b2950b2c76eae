import { type ApiPromise, apiPromise, type WithResponse } from '../api-promise.ts'
import { AbortError, ConnectionError, InvalidResponseError, TimeoutError, TrunklineError } from '../errors.ts'
import type { CallOptions, ChatClientOptions } from '../options.ts'
import type { CredentialKind } from './credentials.ts'
import { setLongTimeout } from './long-timeout.ts'
import { onAbort } from './on-abort.ts'
import { parseJson } from './parse-json.ts'
import { requestIdOf, responseFields } from './response-fields.ts'
import { type Repeatable, retryDelayMs } from './retries.ts'
import { type Hide, shownCause } from './shown-cause.ts'
import { readStatusError } from './status-error.ts'
import { withHeaders } from './with-headers.ts'

/** A request, as a resource describes it. */
export interface RequestSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** What the path is below, instead of `/api/v1`. */
  readonly root?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A body that is sent as JSON. */
  readonly json?: unknown
  /** Returns a body that is sent as it is, once for each attempt, until the signal ends it. */
  readonly body?: (signal: AbortSignal) => NonNullable<RequestInit['body']>
  readonly credential: CredentialKind
  /** What in the body no error may show: passwords. */
  readonly secrets?: readonly string[]
  /** When the request is sent again; where nothing is said, it does no harm to do it twice. */
  readonly repeatable?: Repeatable | undefined
  /**
   * Is asked before the request is sent again after this error, and returns whether it can be: a body that is a stream and was
   * read from cannot.
   */
  readonly canRepeat?: (error: unknown) => boolean
  /** How long an attempt may take by default; more for what takes its time, a chat or an upload. */
  readonly timeoutMs?: number
  /** Finds the fields of the gateway's error body in one of another form. */
  readonly errorFieldsOf?: (body: unknown) => unknown
  /** Replaces `fetch` for this request. */
  readonly fetch?: typeof fetch | undefined
}

const TIMEOUT_MS = 60_000
/** The default for a chat or an upload. */
export const LONG_TIMEOUT_MS = 600_000

/** Sends requests: URL, headers, credentials, timeouts, retries, and the errors of what comes back. */
export class Transport {
  /** Private as a whole, because headers may hold credentials as well: what is public here is shown by `console.log(client)`. */
  readonly #options: ChatClientOptions
  readonly #root: string

  constructor(options: ChatClientOptions) {
    this.#options = options
    this.#root = options.baseURL.replace(/(\/api\/v1)?\/*$/, '')
    // `fetch` refuses such a URL with an error that repeats it.
    if (/\/\/[^/]*@/.test(this.#root)) throw new TrunklineError('baseURL has credentials.')
  }

  /** Sends a request whose reply has no envelope. */
  json<T>(spec: RequestSpec, options?: CallOptions): ApiPromise<T> {
    return apiPromise(this.send(spec, options, readObject<T>))
  }

  /**
   * Resolves with a successful response as soon as it has begun. From there on neither the timeout nor the caller's signal has an
   * effect: the reader of the body must cancel it.
   */
  async open(spec: RequestSpec, options?: CallOptions): Promise<Response> {
    return (await this.send(spec, options, async () => undefined)).response
  }

  /** Sends a request, again where that is of use, and reads the response. */
  async send<T>(
    spec: RequestSpec,
    options: CallOptions = {},
    read: (response: Response) => Promise<T>,
  ): Promise<WithResponse<T>> {
    const maxRetries = options.maxRetries ?? this.#options.maxRetries ?? 2
    for (let retries = 0; ; ) {
      const bearer = await this.bearerFor(spec.credential, options)
      try {
        return await this.#attempt(spec, options, bearer, read)
      } catch (error) {
        const delayMs = retryDelayMs(error, retries, spec.repeatable)
        if (delayMs === undefined || retries >= maxRetries || spec.canRepeat?.(error) === false) throw error
        retries++
        this.#options.logger?.warn?.(
          `${spec.method} ${spec.path}: ${String(error)}; retry ${retries} of ${maxRetries} in ${Math.round(delayMs)} ms`,
        )
        await wait(delayMs, options.signal)
      }
    }
  }

  /** Returns the credential for a call; undefined where there is none that could serve. */
  async bearerFor(_kind: CredentialKind, _options: CallOptions): Promise<string | undefined> {
    return this.#options.apiKey
  }

  async #attempt<T>(
    spec: RequestSpec,
    { signal, headers, timeoutMs }: CallOptions,
    bearer: string | undefined,
    read: (response: Response) => Promise<T>,
  ): Promise<WithResponse<T>> {
    const client = this.#options
    const send = client.fetch ?? spec.fetch ?? fetch
    const limitMs = timeoutMs ?? client.timeoutMs ?? spec.timeoutMs ?? TIMEOUT_MS
    const controller = new AbortController()
    const timer = setLongTimeout(limitMs, () => {
      controller.abort(new TimeoutError(`No response within ${limitMs} ms.`))
    })
    const endWaiting = onAbort(signal, () => {
      controller.abort(new AbortError('The call was aborted.', { cause: signal?.reason }))
    })
    // A proxy's page, or an error of another `fetch`, may repeat what was sent. The headers of the client may be for that proxy;
    // those of a call are rather ids. What is shorter than a secret may be a word.
    const secrets = [bearer, ...(spec.secrets ?? []), ...Object.values(client.headers ?? {})]
    const hide: Hide = (text) =>
      secrets.reduce<string>(
        (shown, secret = '') => (secret.length < 8 ? shown : shown.replaceAll(secret, '***')),
        text,
      )
    try {
      controller.signal.throwIfAborted()
      const { method, root = '/api/v1', path, json } = spec
      const body = json ? JSON.stringify(json) : spec.body?.(controller.signal)
      const response = await send(this.#root + root + path, {
        method,
        headers: withHeaders(
          {
            ...(json ? { 'content-type': 'application/json' } : undefined),
            ...(bearer && { authorization: `Bearer ${bearer}` }),
          },
          { ...client.headers, ...spec.headers, ...headers },
        ),
        signal: controller.signal,
        // Node requires `duplex` for bodies that are streams.
        ...{ duplex: 'half' },
        body: body ?? null,
      })
      client.logger?.debug?.(`${spec.method} ${spec.path}: ${response.status}`)
      if (!response.ok) throw await readStatusError(response, spec.errorFieldsOf, hide)
      return { data: await read(response), response, requestId: requestIdOf(response) }
    } catch (error) {
      controller.signal.throwIfAborted()
      if (error instanceof TrunklineError) throw error
      throw new ConnectionError(hide(`The connection to the gateway failed: ${String(error)}`), {
        cause: shownCause(error, hide),
      })
    } finally {
      clearTimeout(timer)
      endWaiting()
    }
  }
}

/** Reads a JSON object. */
export async function readObject<T = object>(response: Response): Promise<T> {
  const value = parseJson(await response.text())
  if (typeof value === 'object' && value !== null) return value as T
  throw invalidResponse(response, 'a JSON object')
}

export function invalidResponse(response: Response, expected: string): InvalidResponseError {
  return new InvalidResponseError(`The response is not ${expected}.`, responseFields(response))
}

/** Resolves after the delay, or earlier with the signal, which the next attempt then finds aborted. */
async function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let endWaiting: (() => void) | undefined
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, delayMs)
    endWaiting = onAbort(signal, resolve)
  })
  clearTimeout(timer)
  endWaiting?.()
}
