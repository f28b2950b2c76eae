import type { FastifyInstance, FastifySchema } from 'fastify'
import Type from 'typebox'
import { listQuery } from '../response/schemas.ts'

/**
 * Makes the routes of the API in this context refuse query parameters that their schema does not name, and fields of a body
 * where they take none: `POST /configuration/reload {"dry_run": true}` must not reload. Bodies that have a schema refuse unknown
 * fields by it, see body-schema.ts. Paths outside of the API are left alone, since verifiers and browsers may add parameters.
 */
export function closeRequests(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/api/')) return
    const { querystring = NO_PARAMETERS, body = READS_BODY.has(String(route.method)) ? NO_BODY : undefined } =
      route.schema ?? {}
    route.schema = { ...route.schema, querystring, ...(body !== undefined && { body }) }
  })
}

const READS_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

const NO_PARAMETERS = listQuery({})

/** The validator gets null for an absent body. */
const NO_BODY = Type.Unsafe<unknown>({
  type: ['object', 'null'],
  properties: {},
  additionalProperties: false,
  expected: 'no body or an empty object',
})

/** The schema of a route for the document of the API, which does not mention the body of a route that takes none. */
export function documentedSchema(schema: FastifySchema): FastifySchema {
  // Of a route without a schema it is undefined, whatever its type says.
  if (schema?.body !== NO_BODY) return schema
  const { body: _none, ...documented } = schema
  return documented
}
