import { join } from 'node:path'
import type { Route } from '@trunkline/examples/ai-sdk/serve-route.ts'
import { serveRoute } from '@trunkline/examples/ai-sdk/serve-route.ts'
import { createServer, defaultClientConditions } from 'vite'
import { expect } from 'vitest'

/** The folder of the pages with the AI SDK. */
export const AI_SDK_PAGES = join(import.meta.dirname, '../../../examples/ai-sdk')

/** Serves these pages, with one route. */
export async function servePages(path: string, route: Route) {
  const server = await createServer({
    root: AI_SDK_PAGES,
    configFile: false,
    logLevel: 'silent',
    plugins: [serveRoute(path, route)],
    // The SDK as it is here, which nothing has to build before.
    resolve: { conditions: ['@trunkline/source', ...defaultClientConditions] },
    server: { host: '127.0.0.1', port: 0 },
  })
  await server.listen()
  const url = server.resolvedUrls?.local[0] ?? expect.unreachable('Vite listens nowhere.')
  return {
    url,
    /** Breaks the connections of the pages, as a network does that changes. */
    breakConnections: () => {
      if (server.httpServer !== null && 'closeAllConnections' in server.httpServer)
        server.httpServer.closeAllConnections()
    },
    close: () => server.close(),
  }
}
