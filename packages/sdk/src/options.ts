/** An access token and, where it is known, its lifetime in seconds: what a login returns. */
export interface AccessToken {
  /** The token. */
  readonly access_token: string
  /** The seconds for which it is valid. */
  readonly expires_in?: number
}

/** The methods of requests to the gateway. */
export type RequestMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a line of the log says, for programs. */
export interface LogFields {
  /** The method of the request. */
  readonly method: RequestMethod
  /** The path and the query, below the address of the gateway. */
  readonly path: string
  /** How often the request was repeated before, from 0 on. */
  readonly retries: number
  /** The HTTP status, where a response was received. */
  readonly status?: number | undefined
  /** The id under which the operator of the gateway finds the request. */
  readonly requestId?: string | undefined
  /** How many milliseconds the attempt took: until the reply was there, or, of a stream, had begun. */
  readonly elapsedMs?: number | undefined
  /** After how many milliseconds the next attempt begins. */
  readonly delayMs?: number | undefined
  /** The name of the error, where the attempt failed. */
  readonly error?: string | undefined
}

/**
 * Receives one line for each response and each retry, as text and as fields; `console` fits. Credentials and contents are never
 * logged.
 */
export interface Logger {
  /** Receives a line for each response. */
  debug?(message: string, fields: LogFields): void
  /** Receives a line for each retry. */
  warn?(message: string, fields: LogFields): void
}

/**
 * What the SDK passes to `fetch` beside the URL. There is more in it, such as the body, whose types differ between the
 * implementations of fetch: a wrapper that reads it takes `init` as the `RequestInit` of its own.
 */
export interface FetchInit {
  /** The method of the request. */
  readonly method: RequestMethod
  /** Its headers, by their names in lower case. */
  readonly headers: Record<string, string>
  /** Ends the request, also while its response is read. */
  readonly signal: AbortSignal
}

/** What the SDK reads of a response. */
export interface FetchResponse {
  /** Whether the status is a success. */
  readonly ok: boolean
  /** The HTTP status. */
  readonly status: number
  /** Its headers. */
  readonly headers: Pick<Headers, 'get'>
  /** The body as a stream; where there is none, replies can be read only whole. */
  readonly body?: unknown
  /** Reads the whole body as text. */
  readonly text: () => Promise<string>
}

/** A `fetch`, by what the SDK needs of it: those of browsers, Node, Bun, Deno, undici and Expo fit. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>

/** The options of a client that only chats. */
export interface ChatClientOptions {
  /**
   * The address of the gateway, such as `https://gateway.example.com`, without credentials; a path `/api/v1` at its end is accepted.
   * The default is `TRUNKLINE_URL` of the environment.
   */
  readonly baseURL?: string | undefined
  /**
   * An API key. With both credentials, chat, upload and `apiKeys.current` use the key and the rest the token. The default, where no
   * credential is given, is `TRUNKLINE_API_KEY` of the environment.
   */
  readonly apiKey?: string | undefined
  /**
   * Permits an API key in a browser, where everybody who opens the page can read it: for pages whose visitors bring their own key.
   */
  readonly dangerouslyAllowBrowser?: boolean | undefined
  /** The agent of every chat that names none. */
  readonly agent?: string | undefined
  /**
   * How long an attempt may take until its response has begun, or, where the reply is no stream, is complete. The default is 60 s,
   * and 600 s for chats and uploads; 0 waits for ever.
   */
  readonly timeoutMs?: number | undefined
  /** How long a stream may be silent; the gateway's keep-alive comments count as life. The default is 60 s; 0 waits for ever. */
  readonly idleTimeoutMs?: number | undefined
  /** How often a failed request is repeated at most; the default is 2. */
  readonly maxRetries?: number | undefined
  /** Replaces the global `fetch`, which in React Native has no streams: `fetch` of `expo/fetch` has them. */
  readonly fetch?: Fetch | undefined
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The options of a client. */
export interface ClientOptions extends ChatClientOptions {
  /** An access token; `login` replaces it. */
  readonly accessToken?: string | undefined
  /** Called where there is no token or where it has expired. Concurrent calls share one renewal. */
  readonly getAccessToken?: (() => string | AccessToken | Promise<string | AccessToken>) | undefined
  /** Receives a line for each response and each retry. */
  readonly logger?: Logger | undefined
}

/** What every call takes as its last argument. */
export interface CallOptions {
  /** Ends the call with an `AbortError`. */
  readonly signal?: AbortSignal | undefined
  /** Headers of this request, beside those of the client. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** How long an attempt may take, instead of the client's `timeoutMs`; 0 waits for ever. */
  readonly timeoutMs?: number | undefined
  /** How often the request is repeated at most, instead of the client's `maxRetries`. */
  readonly maxRetries?: number | undefined
}

/** What a call takes whose reply is a stream. */
export interface ChatStreamOptions extends CallOptions {
  /** How long the stream may be silent, instead of the client's `idleTimeoutMs`; 0 waits for ever. */
  readonly idleTimeoutMs?: number | undefined
}
