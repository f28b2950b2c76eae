import swagger from '@fastify/swagger'
import scalar, { type FastifyApiReferenceOptions } from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { type FixedBody, fixedBody, revalidate } from '#http/fixed-body.ts'
import { completeDocument, type OpenApiDocument } from './document.ts'

const VERSION = '1.0.0'

const DESCRIPTION = `One HTTP interface in front of several AI agent platforms.

Every path also answers with a slash at its end, and to HEAD where it answers to GET. An error has a stable \`reason\` (in the body \`ErrorBody\`; as \`code\` in \`OpenAiError\`), and each operation lists those that it can end with. Before any operation, a request can end with 400 \`invalid_request\` (it is no valid HTTP, or its path is none), 404 \`route_not_found\`, 405 \`method_not_allowed\` (with \`Allow\`) and 431 \`headers_too_large\`.`

/** Prints `openapi.json` from the route schemas, serves it, and shows it under `/docs` with assets of the package alone. */
export async function installOpenApi(app: FastifyInstance, publicUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Trunkline',
        version: VERSION,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: publicUrl }],
      tags: [
        { name: 'chat', description: 'Ask an agent.' },
        { name: 'openai', description: 'The same agents for tools that know only OpenAI.' },
        { name: 'agents', description: 'What can be asked.' },
        { name: 'login', description: 'Access tokens.' },
        { name: 'api-keys', description: 'Long-lived keys.' },
        { name: 'users', description: 'Accounts.' },
        { name: 'usage', description: 'Reports and the ledger.' },
        { name: 'operation', description: 'Health and metrics.' },
      ],
      components: {
        securitySchemes: {
          accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'From login.' },
          apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `tl_…`.' },
        },
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `def-${index}`),
    },
    // The plugin types a document of any version; this one is made of the options above.
    transformObject: (made) =>
      completeDocument((made as unknown as { openapiObject: OpenApiDocument }).openapiObject),
  })
  let document: FixedBody | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (request, reply) => {
    document ??= fixedBody(JSON.stringify(app.swagger()))
    reply.type('application/json; charset=utf-8')
    return reply.send(revalidate(request, reply, document))
  })
  await app.register(async (docs) => {
    fixBodies(docs)
    await docs.register(scalar, SCALAR)
  })
}

const SCALAR = {
  routePrefix: '/docs',
  configuration: {
    url: '../openapi.json',
    pageTitle: 'Trunkline API',
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    // Each of these would send to the vendor what is typed or tried on the page.
    agent: { disabled: true },
    mcp: { disabled: true },
    proxyUrl: '',
  },
} satisfies FastifyApiReferenceOptions

/** The package makes megabytes of bytes from its text for every response. */
function fixBodies(app: FastifyInstance): void {
  const bodies = new Map<string | undefined, FixedBody>()
  app.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode !== 200 || typeof payload !== 'string') return payload
    const { url } = request.routeOptions
    const body = bodies.get(url) ?? fixedBody(payload)
    bodies.set(url, body)
    return revalidate(request, reply, body)
  })
}
