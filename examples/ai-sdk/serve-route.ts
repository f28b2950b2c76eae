import { pipeline } from 'node:stream/promises'
import type { Plugin } from 'vite'

/** A route by the methods that it exports, as in Next.js. */
export type Route = Readonly<Partial<Record<string, (request: Request) => Promise<Response>>>>

/** Serves a route in Vite's development server, as Next.js and others do by themselves. */
export function serveRoute(path: string, route: Route): Plugin {
  return {
    name: 'serve-route',
    configureServer(server) {
      server.middlewares.use(path, async (incoming, outgoing) => {
        const leaving = new AbortController()
        outgoing.once('close', () => leaving.abort())
        try {
          const sent: string[] = []
          for await (const piece of incoming.setEncoding('utf8')) sent.push(piece)
          const { method = 'GET' } = incoming
          const request = new Request(new URL(incoming.originalUrl ?? path, 'http://page.test'), {
            method,
            body: method === 'GET' ? null : sent.join(''),
            signal: leaving.signal,
          })
          const answer = (await route[method]?.(request)) ?? new Response(null, { status: 405 })
          outgoing.writeHead(answer.status, Object.fromEntries(answer.headers))
          // If the visitor leaves, this cancels the body, which the SDK must hear of.
          if (answer.body === null) outgoing.end()
          else await pipeline(answer.body, outgoing)
        } catch (error) {
          if (!leaving.signal.aborted) console.error(error)
          outgoing.destroy()
        }
      })
    },
  }
}
