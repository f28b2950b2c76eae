import { request } from 'undici'

export interface HttpRequest {
  readonly method: string
  readonly path: string
  /** The bearer credential. */
  readonly as?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes and strings are sent unchanged, everything else as JSON. */
  readonly body?: unknown
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read replies of every shape
  readonly body: any
}

/** Sends one request. Unlike `fetch`, it does not remove or change any header. */
export async function send(
  origin: string,
  { method, path, as, headers, body }: HttpRequest,
): Promise<Answer> {
  const response = await request(new URL(origin).origin + path, {
    method: method as 'GET',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(as !== undefined && { authorization: `Bearer ${as}` }),
      ...headers,
    },
    ...(body !== undefined && { body: bytesOf(body) }),
  })
  const text = await response.body.text()
  const answered = response.headers as Record<string, string | undefined>
  const isJson = answered['content-type']?.startsWith('application/json') === true
  return {
    status: response.statusCode,
    headers: answered,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  }
}

function bytesOf(body: unknown): string | Buffer {
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
}
