import swagger from '@fastify/swagger'
import scalar, { type FastifyApiReferenceOptions } from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { documentedSchema } from '#http/guards/closed-requests.ts'
import { type FixedBody, fixedBody, revalidate } from '#http/response/fixed-body.ts'
import { completeDocument, type OpenApiDocument } from './document.ts'
import { pagePolicy } from './page-policy.ts'

const VERSION = '1.0.0'

const DESCRIPTION = `One HTTP interface in front of several AI agent platforms.

Every path except that of a file may also be written with a slash at its end, and every operation that accepts GET accepts HEAD as well. Every error has a stable \`reason\` (the field \`reason\` of \`ErrorBody\`, the field \`code\` of \`OpenAiError\`), and each operation lists the reasons with which it can fail. Operations other than chats refuse query parameters and fields of the body that they do not know, with 400 \`invalid_request\`, which names each of them and the nearest known one. A request that reaches no operation fails with 400 \`invalid_request\` (it is not valid HTTP, or its path is not valid), 404 \`route_not_found\`, 405 \`method_not_allowed\` (the header \`Allow\` lists the methods), 426 \`websocket_not_supported\` (\`GET /api/v1/responses\` with \`Upgrade: websocket\`) or 431 \`headers_too_large\`.`

/**
 * Generates the API document from the route schemas, serves it as `/openapi.json`, and serves a reference page under `/docs`
 * whose assets all come from the installed package, so that it works without access to the internet.
 */
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
        { name: 'chat', description: 'Sends a message to an agent.' },
        { name: 'openai', description: "The same agents behind OpenAI's interface, for existing tools." },
        { name: 'agents', description: 'Lists the agents of this gateway.' },
        { name: 'login', description: 'Issues and revokes access tokens.' },
        { name: 'api-keys', description: 'Manages API keys, the credentials of programs.' },
        { name: 'users', description: 'Manages the users of the gateway.' },
        { name: 'uploads', description: 'Receives files, for chats and other readers of their URLs.' },
        { name: 'conversations', description: 'Lists conversations, their messages, and rates answers.' },
        { name: 'usage', description: 'Reports the usage.' },
        { name: 'calls', description: 'Lists the calls of the ledger, and stops and resumes calls.' },
        { name: 'refusals', description: 'Lists and counts the requests that were refused.' },
        { name: 'audit', description: 'Lists who changed what.' },
        { name: 'processes', description: 'Lists the processes of the gateway.' },
        { name: 'operation', description: 'Health, readiness and metrics for operators.' },
      ],
      components: {
        securitySchemes: {
          accessToken: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'An access token from `POST /api/v1/login`.',
          },
          apiKey: { type: 'http', scheme: 'bearer', description: 'An API key; it begins with `tl_`.' },
        },
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `def-${index}`),
    },
    transform: ({ schema, url }) => ({ schema: documentedSchema(schema), url }),
    // The plugin's type covers documents of every version; the options above make it one of OpenAPI 3.1.
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
    fixBodies(docs, [new URL(publicUrl).origin])
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
    // Each of these features would send what is typed or tried on the page to the vendor.
    agent: { disabled: true },
    mcp: { disabled: true },
    proxyUrl: '',
  },
} satisfies FastifyApiReferenceOptions

/**
 * Encodes the files of the package once, and gives its page a policy. By default the package encodes megabytes of text anew
 * for every response.
 */
function fixBodies(app: FastifyInstance, connectTo: readonly string[]): void {
  const files = new Map<string | undefined, { body: FixedBody; headers: Record<string, string> }>()
  app.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode !== 200 || typeof payload !== 'string') return payload
    const { url } = request.routeOptions
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html')
    const file = files.get(url) ?? {
      body: fixedBody(payload),
      headers: isPage ? pageHeaders(payload, connectTo) : {},
    }
    files.set(url, file)
    reply.headers(file.headers)
    return revalidate(request, reply, file.body)
  })
}

function pageHeaders(html: string, connectTo: readonly string[]): Record<string, string> {
  return { 'content-security-policy': pagePolicy(html, connectTo), 'referrer-policy': 'no-referrer' }
}
