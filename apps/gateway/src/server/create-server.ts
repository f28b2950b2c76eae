import type { ServerResponse } from 'node:http'
import cors from '@fastify/cors'
import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '#config/load.ts'
import { type BuiltConsole, readBuiltConsole } from '#console/built-console.ts'
import { consoleRoutes } from '#console/routes.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { addressMatcher } from '#core/limits/address-ranges.ts'
import { graphqlRoutes } from '#graphql/routes.ts'
import { schemaRoute } from '#graphql/schema-route.ts'
import { IDEMPOTENCY_KEY } from '#http/chat/kept-request.ts'
import { answerClientError, type Refusing } from '#http/guards/client-error.ts'
import { closeRequests } from '#http/guards/closed-requests.ts'
import { guardConnections } from '#http/guards/connections.ts'
import { createLargeBodyGuard } from '#http/guards/large-bodies.ts'
import { waitUntilPrepared } from '#http/guards/readiness.ts'
import { installJsonBody, refuseBodies } from '#http/request/json-body.ts'
import { installMultipartBody } from '#http/request/multipart-body.ts'
import { refuseRepeatedHeaders, requestIds, requirePlainHost } from '#http/request/request-headers.ts'
import { installValidation } from '#http/request/validation.ts'
import { forbidStoring } from '#http/response/no-store.ts'
import { installProblems, sendProblem, toProblem } from '#http/response/problem.ts'
import { ErrorBodySchema } from '#http/response/schemas.ts'
import { openAiRoutes } from '#openai/routes.ts'
import { healthRoutes } from '#ops/health.ts'
import { installRequestLog } from '#ops/request-log.ts'
import { agentRoutes } from '#rest/agents.ts'
import { apiKeyRoutes } from '#rest/api-keys.ts'
import { auditRoutes } from '#rest/audit.ts'
import { callRoutes } from '#rest/calls.ts'
import { chatRoutes } from '#rest/chat/routes.ts'
import { conversationRoutes } from '#rest/conversations.ts'
import { endUserRoutes } from '#rest/end-users.ts'
import { fileRoutes } from '#rest/files.ts'
import { frontPageRoutes } from '#rest/front-page.ts'
import { jwksRoutes } from '#rest/jwks.ts'
import { keptCallRoutes } from '#rest/kept-calls.ts'
import { loginRoutes } from '#rest/login.ts'
import { installOpenApi } from '#rest/openapi/routes.ts'
import { processRoutes } from '#rest/processes.ts'
import { refusalRoutes } from '#rest/refusals.ts'
import { uploadRoute, uploadsRoutes } from '#rest/uploads.ts'
import { usageRoutes } from '#rest/usage.ts'
import { userRoutes } from '#rest/users.ts'
import type { Gateway } from '../composition/gateway.ts'

/**
 * Creates the HTTP server with all its hooks and routes.
 *
 * @param served - the console that it serves; `as built`: the one that belongs to this gateway, if it has been built
 */
export async function createServer(
  config: Config,
  gateway: Gateway,
  log: Logger,
  served?: BuiltConsole | 'as built',
): Promise<FastifyInstance> {
  const builtConsole = served === 'as built' ? readBuiltConsole() : served
  const { metrics, tracing, health } = gateway
  const app = createApp(config, log, refusingOf(gateway))

  const connections = guardedConnections(app, config, gateway, log)
  metrics.watchConnections(connections)
  if (tracing !== undefined) app.addHook('onRequest', tracing.onRequest)
  installRequestLog(app, metrics)
  // Hooks on the path of every call use callbacks, since an async one costs a promise and a round of microtasks.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    requirePlainHost(request)
    if (health.isDraining && IS_CALL.test(request.url) && !isAboutKeptCall(request)) {
      reply.header('connection', 'close')
      throw new Problem('draining')
    }
    done()
  })
  await app.register(cors, {
    origin: config.cors.origins.includes('*') ? '*' : [...config.cors.origins],
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // As one string, because the plugin would join a list anew for every request.
    exposedHeaders: EXPOSED_HEADERS.join(', '),
    maxAge: 600,
    strictPreflight: false,
  })
  // After CORS, so that a page in a browser can read the error.
  app.addHook('onRequest', (request, reply, done) => {
    if (connections.refuse(request, reply)) return
    if (health.isPrepared) done()
    else waitUntilPrepared(health, request, done)
  })
  await mountRoutes(app, config, gateway, builtConsole)
  app.decorate('hasConsole', builtConsole !== undefined)
  app.decorate('openResponses', connections.responses)
  return app
}

/** Adds all routes. Exported for the test that mounts them without their hooks. */
export async function mountRoutes(
  app: FastifyInstance,
  config: Config,
  { services, prisma, runtime, health, metrics, refusals }: Gateway,
  builtConsole?: BuiltConsole,
): Promise<void> {
  installProblems(app, refusals)
  refuseBodies(app)
  refuseRepeatedHeaders(app)
  installValidation(app)
  app.addSchema(ErrorBodySchema)
  await installOpenApi(app, config.publicUrl)

  const chatOptions = { ...config.chat, keepsReplies: config.replies.enabled }
  const guardLargeBodies = createLargeBodyGuard(services)
  // A context of its own, because body parsers are registered for a context and other routes accept other types. A context
  // that adds schemas does not inherit the validation.
  await app.register(async (json) => {
    installJsonBody(json)
    guardLargeBodies(json)
    installValidation(json)
    chatRoutes(json, services, chatOptions)
    openAiRoutes(json, services, chatOptions)
    await json.register(async (management) => {
      forbidStoring(management)
      installValidation(management)
      closeRequests(management)
      agentRoutes(management, services, config.platforms.names)
      loginRoutes(management, services, runtime)
      apiKeyRoutes(management, services, runtime)
      userRoutes(management, services, runtime)
      usageRoutes(management, services)
      callRoutes(management, services)
      refusalRoutes(management, services)
      conversationRoutes(management, services)
      endUserRoutes(management, services)
      auditRoutes(management, services)
      processRoutes(management, services)
      keptCallRoutes(management, services, config.chat)
      // Its keys are public, and say themselves how long they may be kept.
      jwksRoutes(management, services)
      uploadsRoutes(management, services)
    })
  })
  await app.register(async (graphql) => {
    forbidStoring(graphql)
    installJsonBody(graphql)
    await graphqlRoutes(graphql, {
      services,
      prisma,
      now: runtime.now,
      chatOptions,
      observer: metrics,
      guardLargeBodies,
      settings: { ...config.graphql, consoleDocuments: builtConsole?.documents },
    })
  })
  await app.register(async (form) => {
    forbidStoring(form)
    await installMultipartBody(form)
    installValidation(form)
    closeRequests(form)
    uploadRoute(form, services)
  })
  if (config.s3 === undefined) fileRoutes(app, services)
  if (config.console) consoleRoutes(app, builtConsole)
  schemaRoute(app, config.graphql)
  frontPageRoutes(app, {
    publicUrl: config.publicUrl,
    platforms: config.platforms.names,
    hasConsole: builtConsole !== undefined,
    hasHealth: config.opsPort === undefined,
    showsSchema: config.graphql.introspection,
  })
  if (config.opsPort === undefined) {
    await app.register(async (operation) => {
      forbidStoring(operation)
      healthRoutes(operation, health, metrics)
    })
  }
}

/** Creates the server for health and metrics on a port of their own, which stays open while the gateway drains. */
export async function createOpsServer(
  config: Config,
  gateway: Gateway,
  log: Logger,
): Promise<FastifyInstance> {
  const app = createApp(config, log, refusingOf(gateway))
  const connections = guardedConnections(app, config, gateway, log)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    if (!connections.refuse(request, reply)) done()
  })
  installProblems(app)
  forbidStoring(app)
  healthRoutes(app, gateway.health, gateway.metrics)
  return app
}

/** What is refused before there is a request has neither a log line nor a caller. */
function refusingOf({ metrics, runtime, refusals }: Gateway): Refusing {
  return {
    newId: runtime.newId,
    refused(requestId, problem) {
      metrics.refused(problem)
      refusals.record({ requestId, face: 'rest', route: 'unknown', requester: {}, problem })
    },
  }
}

function guardedConnections(app: FastifyInstance, config: Config, gateway: Gateway, log: Logger) {
  const { connectionsMax, trustedProxies, chat } = config
  return guardConnections(app, {
    connectionsMax,
    stalledMs: chat.stalledMs,
    isProxy: addressMatcher(trustedProxies),
    elapsedMs: gateway.runtime.elapsedMs,
    ...refusingOf(gateway),
    full(isFull) {
      if (isFull) log.warn({ connectionsMax }, FULL)
      else log.info('there is room for connections again')
    },
    closedIdle: () => gateway.metrics.idleConnectionClosed(),
  })
}

const FULL =
  'connections are at their bound; idle ones are closed for further ones, which are refused where none is idle'

/** Clients of kept calls go on to read and stop them while the process drains, and are answered from earlier ones. */
function isAboutKeptCall({ method, url, headers }: FastifyRequest): boolean {
  // What is put there is a rating, which any process takes, as it reads the record of a call.
  return headers[IDEMPOTENCY_KEY] !== undefined || (OF_KEPT_CALL.test(url) && method !== 'PUT')
}

const OF_KEPT_CALL = /^\/api\/v1\/calls\/[^/?]+\/\w/

/** The paths that are refused while the gateway drains. */
const IS_CALL = /^\/(?:api\/|graphql)/

const EXPOSED_HEADERS = [
  'X-Request-Id',
  'X-Call-Id',
  'X-Conversation-Id',
  'X-Dropped-Tools',
  'X-History',
  'X-Should-Retry',
  'Idempotent-Replayed',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
]

function createApp(config: Config, log: Logger, refusing: Refusing): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request costs as much as its log line, so the places that log a request add its id themselves.
    childLoggerFactory: (logger) => logger,
    genReqId: requestIds(refusing.newId),
    requestIdHeader: false,
    bodyLimit: config.chat.bodyBytesMax,
    trustProxy: config.trustedProxies.length === 0 ? false : [...config.trustedProxies],
    exposeHeadRoutes: true,
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1_024 },
    // `guardConnections` limits it, because an upload may take longer than other requests.
    requestTimeout: 0,
    keepAliveTimeout: 72_000,
    http: {
      // This is also how long a connection may wait before its first request.
      headersTimeout: 30_000,
      connectionsCheckingInterval: 5_000,
      // A hook checks this instead, so that the response has the error body.
      requireHostHeader: false,
    },
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id)
      sendProblem(toProblem(error), request, reply)
    },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, refusing),
  })
  // A server may ignore an unknown expectation (RFC 9110, 10.1.1). Node would answer it with 417 and no body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.decorateRequest('problem', undefined)
  app.decorateRequest('refusedBy', undefined)
  app.decorateRequest('callId', undefined)
  app.decorateRequest('trace', undefined)
  app.decorateRequest('principal', undefined)
  app.decorateRequest('apiKey', '')
  app.decorateRequest('isKeyJudgedByCall', false)
  return app as unknown as FastifyInstance
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the server has the built files of the console. */
    hasConsole: boolean
    /** The responses that have not ended yet. */
    openResponses: () => ServerResponse[]
  }
}
