import type { Fetch, FetchInit } from '../options.ts'

/** The part of `XMLHttpRequest` that is used here; the types of Node do not have it. */
interface Xhr {
  readonly upload: {
    onprogress: ((event: { readonly loaded: number; readonly total: number }) => void) | null
  }
  readonly status: number
  readonly responseText: string
  onload: (() => void) | null
  onerror: (() => void) | null
  onabort: (() => void) | null
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getAllResponseHeaders(): string
  send(body: Blob | null): void
  abort(): void
}

/** Returns whether this is a browser, whose `fetch` cannot tell how much of a body was sent. */
export function hasXhr(): boolean {
  return 'XMLHttpRequest' in globalThis
}

/** Returns a `fetch` by XMLHttpRequest, for a request whose progress matters and whose reply is short. */
export function xhrFetch(onProgress: (loaded: number, total: number) => void): Fetch {
  return (url, { method, headers, body, signal }: FetchInit & { readonly body?: unknown }) =>
    new Promise((resolve, reject) => {
      const xhr = newXhr()
      xhr.open(method, url)
      for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value)
      xhr.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total)
      xhr.onload = () => {
        const { status, responseText } = xhr
        resolve(new Response(responseText, { status, headers: parseHeaders(xhr.getAllResponseHeaders()) }))
      }
      xhr.onerror = () => reject(new TypeError('Failed to fetch'))
      xhr.onabort = () => reject(signal.reason ?? new TypeError('Aborted'))
      signal.addEventListener('abort', () => xhr.abort(), { once: true })
      xhr.send(body instanceof Blob ? body : null)
    })
}

function parseHeaders(text: string): Headers {
  const headers = new Headers()
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return headers
}

function newXhr(): Xhr {
  const scope: object = globalThis
  const Xhr: new () => Xhr = Reflect.get(scope, 'XMLHttpRequest')
  return new Xhr()
}
