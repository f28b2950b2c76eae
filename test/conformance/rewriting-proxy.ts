import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

/** A proxy in front of the emulators that can redirect an agent to another emulator and rewrite paths. */
export interface RewritingProxy {
  /** Points the route `name` to `baseUrl` and returns the URL at which the gateway reaches it. */
  route(name: string, baseUrl: string, rewrite?: readonly [from: string, to: string]): string
  close(): Promise<void>
}

export async function startRewritingProxy(): Promise<RewritingProxy> {
  const targets = new Map<string, (path: string) => string>()
  const server = createServer((request, response) => {
    const [, name = '', path = ''] = /^\/([^/]+)(.*)$/.exec(request.url ?? '') ?? []
    const url = targets.get(name)?.(path) ?? ''
    const outgoing = send(url, { method: request.method, headers: request.headers }, (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.headers)
      pipeline(incoming, response, () => undefined)
    })
    outgoing.once('error', () => response.destroy())
    response.once('close', () => outgoing.destroy())
    request.pipe(outgoing)
  })
  // Longer than the gateway keeps idle sockets, so that it never reuses one that this server is closing.
  server.keepAliveTimeout = 65_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    route(name, baseUrl, [from, to] = ['', '']) {
      const target = new URL(baseUrl)
      targets.set(name, (path) => target.origin + path.replace(from, to))
      return `${origin}/${name}${target.pathname}`
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
