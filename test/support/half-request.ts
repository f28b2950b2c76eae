import { once } from 'node:events'
import { connect } from 'node:net'
import { chatBody } from './api.ts'

export interface HalfRequest {
  /** Sends the rest, and returns everything that the gateway answers until it closes the connection. */
  finish(): Promise<string>
}

/** Opens a connection, and sends the first lines of a chat request, or nothing yet. */
export async function halfRequest(
  url: string,
  key: string,
  { isSilent = false }: { readonly isSilent?: boolean } = {},
): Promise<HalfRequest> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setEncoding('utf8')
  await once(socket, 'connect')
  const body = JSON.stringify(chatBody())
  const head =
    `POST /api/v1/chat HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${key}\r\n` +
    `Agent: openai\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  if (!isSilent) socket.write(head)
  return {
    async finish() {
      socket.write(`${isSilent ? head : ''}\r\n${body}`)
      return (await socket.toArray()).join('')
    },
  }
}
