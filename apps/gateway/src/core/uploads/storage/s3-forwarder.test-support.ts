import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP server that passes every request on to another one, and reports it first. */
export interface Forwarder {
  readonly url: string
  close(): Promise<void>
}

export async function startForwarder(
  target: string,
  before: (request: IncomingMessage) => void | Promise<void>,
): Promise<Forwarder> {
  const { hostname, port } = new URL(target)
  const server = createServer(async (incoming, outgoing) => {
    await before(incoming)
    const { method, url, headers } = incoming
    // The headers include the host that the client has signed.
    const forwarded = request({ hostname, port, method, path: url, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.on('close', () => {
      if (!incoming.complete) forwarded.destroy()
    })
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
