import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

/** Serves the root: redirects browsers to the API reference and gives programs links. Neither needs a credential. */
export function frontPageRoutes(app: FastifyInstance, { hasHealth }: { hasHealth: boolean }): void {
  const icon = readFileSync(new URL('favicon.ico', import.meta.url))
  const links = {
    docs: '/docs',
    openapi: '/openapi.json',
    agents: '/api/v1/agents',
    chat: '/api/v1/chat',
    openai: '/api/v1',
    ...(hasHealth && { health: '/healthz', readiness: '/readyz', metrics: '/metrics' }),
  }

  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    reply.header('vary', [reply.getHeader('vary') ?? [], 'Accept'].flat().join(', '))
    reply.header('cache-control', 'no-cache')
    if (request.headers.accept?.includes('text/html')) return reply.redirect('/docs')
    return { name: 'Trunkline', links }
  })

  app.get('/favicon.ico', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('image/x-icon').header('cache-control', 'public, max-age=86400').send(icon),
  )
}
