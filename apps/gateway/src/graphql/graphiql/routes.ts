import { readFile } from 'node:fs/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { shippedFile } from '#core/base/shipped-files.ts'
import { type FixedBody, fixedBody, revalidate } from '#http/response/fixed-body.ts'
import { keyFieldsOf } from './credentials.ts'
import { renderNotice, renderPage } from './page.ts'

interface GraphiqlOptions {
  /** The path of the GraphQL endpoint, on which browsers get the page. */
  readonly path: string
  readonly schema: GraphQLSchema
  /** Whether the gateway executes the documents that people write in the page. */
  readonly takesAnyDocument: boolean
}

/**
 * Serves GraphiQL to browsers that open the GraphQL endpoint. All files come from GraphiQL's package and from the folder `browser`,
 * so that the page works without access to the internet, and its policy lets the browser ask no other origin.
 */
export function graphiqlRoutes(
  app: FastifyInstance,
  { path, schema, takesAnyDocument }: GraphiqlOptions,
): void {
  const files = `${path}/graphiql`
  const html = takesAnyDocument
    ? renderPage(files, { endpoint: path, keyFields: keyFieldsOf(schema) })
    : renderNotice(files)
  const bodies = new Map<string, Promise<FixedBody>>()

  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.url !== path || !isBrowser(request)) return
    reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8')
    return reply.send(html)
  })
  for (const [name, { type, read }] of Object.entries(FILES)) {
    app.get(`${files}/${name}`, { schema: { hide: true } }, async (request, reply) => {
      const body = markRejectionHandled(bodies.get(name) ?? read().then(fixedBody))
      bodies.set(name, body)
      reply.type(type)
      return reply.send(revalidate(request, reply, await body))
    })
  }
}

/** Clients of GraphQL do not accept HTML. */
function isBrowser({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true
}

const PAGE_HEADERS = {
  vary: 'Accept',
  'cache-control': 'no-store',
  // The editor writes its styles into the page, and starts its workers from files of its own.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

const JAVASCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'

// The files of the package are 9 MB of text in one module, which is loaded when a browser first asks for one of them.
const FILES: Record<string, { readonly type: string; read(): Promise<string> }> = {
  'graphiql.js': { type: JAVASCRIPT, read: async () => (await fromPackage()).js },
  'graphiql.css': { type: CSS, read: async () => (await fromPackage()).css },
  'editor-worker.js': { type: JAVASCRIPT, read: async () => (await fromPackage()).editorWorkerService },
  'json-worker.js': { type: JAVASCRIPT, read: async () => (await fromPackage()).jsonWorker },
  'graphql-worker.js': { type: JAVASCRIPT, read: async () => (await fromPackage()).graphqlWorker },
  'page.js': { type: JAVASCRIPT, read: () => ourOwn('page.js') },
  'page.css': { type: CSS, read: () => ourOwn('page.css') },
}

const fromPackage = () => import('@graphql-yoga/render-graphiql/graphiql')
const ourOwn = (name: string) => readFile(new URL(name, shippedFile('graphiql')), 'utf8')
