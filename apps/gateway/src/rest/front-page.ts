import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { shippedFile } from '#core/base/shipped-files.ts'
import { fixedBody, revalidate } from '#http/response/fixed-body.ts'
import { addVary } from '#http/response/vary.ts'
import { type LlmsTextOptions, llmsText } from './llms-text.ts'

interface FrontPageOptions extends LlmsTextOptions {
  readonly hasConsole: boolean
  readonly hasHealth: boolean
}

/**
 * Serves the root: redirects browsers to the console, or to the API reference if the console is not served, and gives
 * programs links. `/llms.txt` gives language models a description. None of them needs a credential.
 */
export function frontPageRoutes(app: FastifyInstance, options: FrontPageOptions): void {
  const { hasConsole, hasHealth, showsSchema } = options
  const icon = readFileSync(shippedFile('favicon'))
  const links = {
    ...(hasConsole && { console: '/console' }),
    docs: '/docs',
    openapi: '/openapi.json',
    llms: '/llms.txt',
    agents: '/api/v1/agents',
    chat: '/api/v1/chat',
    openai: '/api/v1',
    graphql: '/graphql',
    ...(showsSchema && { schema: '/schema.graphql' }),
    ...(hasHealth && { health: '/healthz', readiness: '/readyz', metrics: '/metrics' }),
  }

  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    addVary(reply, 'Accept')
    reply.header('cache-control', 'no-cache')
    if (request.headers.accept?.includes('text/html'))
      return reply.redirect(hasConsole ? '/console' : '/docs')
    return { name: 'Trunkline', links }
  })

  const description = fixedBody(llmsText(options))
  app.get('/llms.txt', { schema: { hide: true } }, async (request, reply) =>
    reply.type('text/plain; charset=utf-8').send(revalidate(request, reply, description)),
  )

  app.get('/favicon.ico', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('image/x-icon').header('cache-control', 'public, max-age=86400').send(icon),
  )
}
