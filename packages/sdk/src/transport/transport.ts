import type { WithResponse } from '../api-promise.ts'
import { checkOptions } from '../check-options.ts'
import { isBrowser, type Resolved } from '../client-options.ts'
import { AbortError, InvalidResponseError, TimeoutError, TrunklineError } from '../errors.ts'
import { VERSION } from '../generated/version.ts'
import type { CallOptions, ChatClientOptions, ChatStreamOptions, Fetch, RequestMethod } from '../options.ts'
import { connectionError } from './connection-error.ts'
import type { CredentialKind } from './credentials.ts'
import { setLongTimeout } from './long-timeout.ts'
import { onAbort } from './on-abort.ts'
import { parseJson } from './parse-json.ts'
import { requestIdOf, responseFields } from './response-fields.ts'
import { type Repeatable, retryDelayMs } from './retries.ts'
import type { Hide } from './shown-cause.ts'
import { readStatusError } from './status-error.ts'
import { withHeaders } from './with-headers.ts'

/** A request, as a resource describes it. */
export interface RequestSpec {
  readonly method: RequestMethod
  /** With `{name}` for each of the parameters, where there are any. */
  readonly path: string
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** What is appended to the path; what is undefined is not. */
  readonly query?: object | undefined
  /** What the path is below, instead of `/api/v1`. */
  readonly root?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A body that is sent as JSON. */
  readonly json?: object | undefined
  /** Returns a body that is sent as it is, once for each attempt, until the signal ends it. */
  readonly body?: (signal: AbortSignal) => NonNullable<RequestInit['body']>
  /** Where nothing is said, the access token. */
  readonly credential?: CredentialKind | undefined
  /** What in the body no error may show: passwords; undefined where a program in JavaScript passed no body. */
  readonly secrets?: readonly (string | undefined)[]
  /** When the request is sent again; where nothing is said, it does no harm to do it twice. */
  readonly repeatable?: Repeatable | undefined
  /**
   * Called before the request is sent again after this error. Returns whether that is possible: it is not if the body is a stream
   * that was read from.
   */
  readonly canRepeat?: (error: unknown) => boolean
  /** How long an attempt may take by default; more for what takes its time, a chat or an upload. */
  readonly timeoutMs?: number
  /** Finds the fields of the gateway's error body in one of another form. */
  readonly errorFieldsOf?: (body: unknown) => unknown
  /** Further options of `fetch`. */
  readonly init?: Pick<RequestInit, 'keepalive'>
  /** Replaces `fetch` for this request. */
  readonly fetch?: Fetch | undefined
}

const TIMEOUT_MS = 60_000
/** The default for a chat or an upload. */
export const LONG_TIMEOUT_MS = 600_000

/** Sends requests: URL, headers, credentials, timeouts, retries, and the errors of what comes back. */
export class Transport {
  /** Private as a whole, because headers may hold credentials as well: what is public here is shown by `console.log(client)`. */
  readonly #options: Resolved<ChatClientOptions>
  readonly #root: string

  constructor(options: Resolved<ChatClientOptions>) {
    this.#options = options
    // Linear time: nobody but the author of the program chooses this text.
    this.#root = options.baseURL.replace(/(\/api\/v1)?\/*$/, '')
  }

  /**
   * Resolves with a successful response as soon as it has begun. From there on neither the timeout nor the caller's signal has an
   * effect: the reader of the body must cancel it.
   */
  async open(spec: RequestSpec, options?: ChatStreamOptions): Promise<Response> {
    return (await this.send(spec, options, async () => undefined)).response
  }

  /** Sends a request, again where that is of use, and reads the response. */
  async send<T>(
    spec: RequestSpec,
    options: CallOptions = {},
    read: (response: Response) => Promise<T>,
  ): Promise<WithResponse<T>> {
    checkOptions(options)
    const maxRetries = options.maxRetries ?? this.#options.maxRetries ?? 2
    for (let retries = 0; ; ) {
      const bearer = await this.bearerFor(spec.credential, options)
      try {
        return await this.attempt(spec, options, bearer, read, retries)
      } catch (error) {
        const delayMs = retries < maxRetries ? this.delayBeforeRetry(error, spec, retries) : undefined
        if (delayMs === undefined) throw error
        retries++
        await wait(delayMs, options.signal)
      }
    }
  }

  /**
   * Returns how long to wait before a request that failed is sent again, or undefined where it is not.
   *
   * @param retries how many retries there were before
   */
  delayBeforeRetry(failure: unknown, { repeatable }: RequestSpec, retries: number): number | undefined {
    return retryDelayMs(failure, retries, repeatable)
  }

  /** Returns the credential for a call; undefined where there is none that could serve. */
  async bearerFor(_kind: CredentialKind | undefined, _options: CallOptions): Promise<string | undefined> {
    return this.#options.apiKey
  }

  /** Sends a request once. */
  async attempt<T>(
    spec: RequestSpec,
    { signal, headers, timeoutMs }: CallOptions,
    bearer: string | undefined,
    read: (response: Response) => Promise<T>,
    _retries: number,
  ): Promise<WithResponse<T>> {
    const client = this.#options
    const send: Fetch = client.fetch ?? spec.fetch ?? fetch
    const limitMs = timeoutMs ?? client.timeoutMs ?? spec.timeoutMs ?? TIMEOUT_MS
    const controller = new AbortController()
    const endWaiting = onAbort(signal, () => {
      controller.abort(new AbortError('The call was aborted.', { cause: signal?.reason }))
    })
    const timer = setLongTimeout(limitMs, () => {
      controller.abort(new TimeoutError(`No response within ${limitMs} ms.`))
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
      const sent = withHeaders(
        {
          'trunkline-client': `js/${VERSION}`,
          ...(json && { 'content-type': 'application/json' }),
          ...(bearer && { authorization: `Bearer ${bearer}` }),
        },
        { ...client.headers, ...spec.headers, ...headers },
      )
      // A header of one's own may be the credential, and a page's server may add it.
      if (spec.credential === 'key' && !sent.get('authorization') && !isBrowser())
        throw new TrunklineError('apiKey (TRUNKLINE_API_KEY) is missing.')
      const body = json ? JSON.stringify(json) : (spec.body?.(controller.signal) ?? null)
      const init = {
        method,
        // The types of `Headers` differ, too.
        headers: Object.fromEntries(sent),
        signal: controller.signal,
        // Node requires `duplex` for bodies that are streams.
        duplex: 'half',
        ...spec.init,
        body,
      }
      // Callers get what their `fetch` returns, whose type may be another one.
      const response = (await send(this.#root + root + path, init)) as Response
      if (!response.ok) throw await readStatusError(response, spec.errorFieldsOf, hide)
      return { data: await read(response), response, requestId: requestIdOf(response) }
    } catch (error) {
      controller.signal.throwIfAborted()
      if (error instanceof TrunklineError) throw error
      throw connectionError('The connection to the gateway failed', error, undefined, hide)
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
