import { once } from 'node:events'
import { createServer, type IncomingMessage, request as requestOf, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** One request and its reply, as they were sent. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly request: string
  status: number
  contentType: string
  reply: string
  /** Whether the reply has come to its end, its client has left, or the server has broken it off. */
  state: 'open' | 'ended' | 'left' | 'broken'
}

/** What stands between the gateway and the agent, and notes what either sends. */
export interface Wire {
  readonly origin: string
  readonly exchanges: readonly Exchange[]
  close(): Promise<void>
}

export async function startWire(target: string): Promise<Wire> {
  const exchanges: Exchange[] = []
  const server = createServer((request, response) => void pass(request, response).catch(() => {}))

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request
    const body = await buffer(request)
    const exchange: Exchange = {
      ...{ method, path, request: body.toString() },
      ...{ status: 0, contentType: '', reply: '', state: 'open' },
    }
    exchanges.push(exchange)
    const passed = requestOf(target + path, { method, headers })
    response.on('close', () => {
      if (exchange.state !== 'open') return
      exchange.state = 'left'
      passed.destroy()
    })
    const breakOff = () => {
      if (exchange.state === 'open') exchange.state = 'broken'
      response.destroy()
    }
    passed.on('error', breakOff)
    passed.on('response', (reply) => {
      const pieces: Buffer[] = []
      exchange.status = reply.statusCode ?? 0
      exchange.contentType = reply.headers['content-type'] ?? ''
      response.writeHead(exchange.status, reply.headers).flushHeaders()
      reply.on('error', breakOff)
      reply.on('data', (piece: Buffer) => {
        pieces.push(piece)
        exchange.reply = Buffer.concat(pieces).toString()
        response.write(piece)
      })
      reply.on('end', () => {
        exchange.state = 'ended'
        response.end()
      })
    })
    passed.end(body)
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
