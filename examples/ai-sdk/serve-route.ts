import type { Plugin } from 'vite'

/** Serves a route in Vite's development server, as Next.js and others do by themselves. */
export function serveRoute(path: string, route: (request: Request) => Promise<Response>): Plugin {
  return {
    name: 'serve-route',
    configureServer(server) {
      server.middlewares.use(path, async (incoming, outgoing) => {
        const leaving = new AbortController()
        outgoing.once('close', () => leaving.abort())
        const body: string[] = []
        for await (const piece of incoming.setEncoding('utf8')) body.push(piece)
        const request = new Request(new URL(path, 'http://page.test'), {
          method: 'POST',
          body: body.join(''),
          signal: leaving.signal,
        })
        const { status, headers, body: answer } = await route(request)
        outgoing.writeHead(status, Object.fromEntries(headers))
        const reader = answer?.getReader()
        for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read())
          outgoing.write(piece.value)
        outgoing.end()
      })
    },
  }
}
