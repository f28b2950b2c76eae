import type { FastifyInstance } from 'fastify'
import { fail } from '#core/base/errors/errors.ts'
import { type FixedBody, fixedBody, revalidate } from '#http/response/fixed-body.ts'
import { printedSchema } from './schema.ts'

/** Serves the text of the schema to code generators, where introspection shows it anyway. */
export function schemaRoute(
  app: FastifyInstance,
  { introspection }: { readonly introspection: boolean },
): void {
  // Printed for the first request, so that a start does not wait for it.
  let text: FixedBody | undefined
  app.get('/schema.graphql', { schema: { hide: true } }, async (request, reply) => {
    if (!introspection) fail('route_not_found', NOT_SHOWN)
    text ??= fixedBody(printedSchema())
    return reply.type('text/plain; charset=utf-8').send(revalidate(request, reply, text))
  })
}

const NOT_SHOWN = 'This gateway does not show its GraphQL schema; graphql.introspection switches it on.'
