import type { TestGateway } from './gateway.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read replies of every shape
  readonly body: any
}

/** A client of the REST interface that sends and parses JSON. */
export function apiOf(gateway: Pick<TestGateway, 'url' | 'admin'>) {
  async function call(
    method: string,
    path: string,
    { token, headers = {}, body }: { token?: string; headers?: Record<string, string>; body?: unknown } = {},
  ): Promise<Answer> {
    const response = await fetch(gateway.url + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  }

  /** Sends a chat call and returns the response unread, so that the test can read it as JSON or as a stream. */
  function chat(
    key: string,
    agent: string,
    more: Record<string, unknown> = {},
    init: { headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, agent, 'content-type': 'application/json' }
    return fetch(`${gateway.url}/api/v1/chat`, {
      ...init,
      method: 'POST',
      headers: { ...headers, ...init.headers },
      body: JSON.stringify(chatBody(more)),
    })
  }

  async function login(
    username = gateway.admin.username,
    password = gateway.admin.password,
  ): Promise<string> {
    const { status, body } = await call('POST', '/api/v1/login', { body: { username, password } })
    if (status !== 200) throw new Error(`login returned ${status}: ${JSON.stringify(body)}`)
    return body.data.access_token
  }

  async function createUser(token: string, username: string, more: Record<string, unknown> = {}) {
    const password = `password of ${username}`
    const { body } = await call('POST', '/api/v1/users', { token, body: { username, password, ...more } })
    return { ...body.data, password } as { id: string; username: string; password: string }
  }

  async function createKey(token: string, more: Record<string, unknown> = {}) {
    const { status, body } = await call('POST', '/api/v1/api-keys', {
      token,
      body: { name: 'test', description: 'test', expires_at: inOneYear(), permissions: ['chat'], ...more },
    })
    if (status !== 200) throw new Error(`creating a key returned ${status}: ${JSON.stringify(body)}`)
    return body.data as { id: string; full_key: string; owner_id: string }
  }

  return { call, chat, login, createUser, createKey }
}

export type Api = ReturnType<typeof apiOf>

export function inOneYear(): string {
  return new Date(Date.now() + 365 * 86_400_000).toISOString()
}

/** A complete chat body; `more` overrides its defaults. */
export function chatBody(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    app_id: 'app-1',
    chat_id: 'chat-1',
    stream: false,
    detail: false,
    query: 'Hello',
    conversation_id: '',
    files: [],
    ...more,
  }
}
