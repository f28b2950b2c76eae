import {
  type ApiPromise,
  apiPromise,
  type ListPromise,
  listPromise,
  type Page,
  type WithResponse,
} from './api-promise.ts'
import { type CredentialKind, Credentials } from './credentials.ts'
import { AuthenticationError } from './errors.ts'
import { guardedResponse } from './guarded-response.ts'
import type { CallOptions, ChatStreamOptions, ClientOptions } from './options.ts'
import { invalidResponse, type RequestSpec, readObject, Transport } from './transport.ts'

/** Sends the requests of a whole client: with both kinds of credentials, envelopes and pages, which chats do not have. */
export class GatewayTransport extends Transport {
  readonly credentials: Credentials

  constructor(options: ClientOptions) {
    super(options)
    this.credentials = new Credentials(options)
  }

  /** As every transport does; and where the gateway refuses a token that can be renewed, once more with the next one. */
  override async send<T>(
    spec: RequestSpec,
    options: CallOptions | undefined,
    read: (response: Response) => Promise<T>,
  ): Promise<WithResponse<T>> {
    const bearer = await this.bearerFor(spec.credential)
    try {
      return await super.send(spec, options, read)
    } catch (error) {
      const isRenewable = error instanceof AuthenticationError && this.credentials.refuse(error, bearer)
      if (!isRenewable || spec.canRepeat?.() === false) throw error
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
    { idleTimeoutMs = this.options.idleTimeoutMs, ...options }: ChatStreamOptions = {},
  ): Promise<Response> {
    return guardedResponse(await this.open(spec, options), { signal: options.signal, idleTimeoutMs })
  }

  protected override bearerFor(kind: CredentialKind): Promise<string | undefined> {
    return this.credentials.bearerFor(kind)
  }

  list<T>(path: string, query: object | undefined, options?: CallOptions): ListPromise<T> {
    return listPromise((cursor) =>
      this.data<Page<T>>(
        { method: 'GET', path: withQuery(path, { ...query, cursor }), credential: 'token' },
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
