import { once } from 'node:events'
import { connect } from 'node:net'
import { chatBody } from './api.ts'

export interface HalfRequest {
  /** Sends the rest, and returns everything that the gateway answers until it closes the connection. */
  finish(): Promise<string>
}

interface HalfRequestOptions {
  readonly isSilent?: boolean
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** By default that of a chat. */
  readonly body?: string
}

/**
 * Opens a connection, and sends the first lines of a request, by default a chat, or nothing yet. Resolves when the gateway, if
 * it is one process, has accepted the connection and read what was sent: it does so before it answers on a later connection.
 */
export async function halfRequest(
  url: string,
  key: string,
  {
    isSilent = false,
    method = 'POST',
    path = '/api/v1/chat',
    headers = {},
    ...more
  }: HalfRequestOptions = {},
): Promise<HalfRequest> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setEncoding('utf8')
  await once(socket, 'connect')
  const body = more.body ?? JSON.stringify(chatBody())
  const lines = Object.entries({ agent: 'openai', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const head =
    `${method} ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${key}\r\n` +
    `${lines.join('')}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  if (!isSilent) socket.write(head)
  const later = connect(Number(port), hostname)
  later.write(`GET /healthz HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`)
  await later.toArray()
  return {
    async finish() {
      socket.write(`${isSilent ? head : ''}\r\n${body}`)
      return (await socket.toArray()).join('')
    },
  }
}
