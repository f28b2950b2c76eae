import { once } from 'node:events'
import { connect } from 'node:net'
import type { Answer } from './send.ts'

/**
 * Sends raw bytes on a new connection and parses what the server sends until it closes the connection. With `end`, the
 * client closes its side after the bytes.
 */
export async function exchange(
  origin: string,
  bytes: string | Buffer,
  { end = false }: { end?: boolean } = {},
): Promise<Answer> {
  const { hostname: host, port } = new URL(origin)
  const socket = connect({ host, port: Number(port) })
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  if (end) socket.end(bytes)
  else socket.write(bytes)
  await once(socket, 'close')
  return parse(Buffer.concat(chunks).toString())
}

function parse(response: string): Answer {
  const [head = '', text = ''] = response.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const isJson = headers['content-type']?.startsWith('application/json') === true
  const body = isJson && text !== '' ? JSON.parse(text) : text
  return { status: Number(first.split(' ')[1]), headers, text, body }
}
