/** The headers of a request and of its response, by their names in lower case. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly requestHeaders: Headers
  /** Undefined where there was no response. */
  readonly status: number | undefined
  readonly responseHeaders: Headers
}

type Headers = readonly (readonly [name: string, value: string])[]

/** Credentials are masked before anything is kept: only their kind remains visible. */
export function exchangeOf(request: Request, response: Response | undefined): Exchange {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    path: pathname + search,
    requestHeaders: [...request.headers].map(masked),
    status: response?.status,
    responseHeaders: response === undefined ? [] : [...response.headers].map(masked),
  }
}

const SECRET = new Set(['authorization', 'cookie', 'set-cookie', 'proxy-authorization'])

function masked([name, value]: [string, string]): readonly [string, string] {
  if (!SECRET.has(name)) return [name, value]
  const scheme = /^(Bearer|Basic) /i.exec(value)?.[0] ?? ''
  return [name, `${scheme}••••••••`]
}
