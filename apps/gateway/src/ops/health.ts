import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Metrics } from './metrics.ts'

/** What a dependency says of itself; `detail` is for operators and names no secret. */
export interface DependencyState {
  readonly ok: boolean
  readonly detail?: string
}

export interface Health {
  /** Whether the start is complete: until then nothing that needs the database is served. */
  isPrepared(): boolean
  isDraining(): boolean
  dependencies(): Promise<Record<string, DependencyState>>
}

export function healthRoutes(app: FastifyInstance, health: Health, metrics: Metrics): void {
  app.get('/healthz', { schema: liveSchema }, async () => ({ status: 'ok' as const }))

  app.get('/readyz', { schema: readySchema }, async (_request, reply) => {
    const dependencies = await health.dependencies()
    const isReady = !health.isDraining() && Object.values(dependencies).every(({ ok }) => ok)
    if (!isReady) reply.status(503).header('retry-after', '1')
    return { status: health.isDraining() ? 'draining' : isReady ? 'ready' : 'not_ready', dependencies }
  })

  app.get('/metrics', { schema: metricsSchema }, async (_request, reply) => {
    reply.type(metrics.contentType)
    return metrics.text()
  })
}

const liveSchema = {
  tags: ['operation'],
  operationId: 'live',
  summary: 'Is the process alive?',
  security: [],
  response: { 200: Type.Object({ status: Type.Literal('ok') }, { description: 'It is.' }) },
}

const Readiness = {
  status: Type.Union([Type.Literal('ready'), Type.Literal('not_ready'), Type.Literal('draining')]),
  dependencies: Type.Record(
    Type.String(),
    Type.Object({ ok: Type.Boolean(), detail: Type.Optional(Type.String()) }),
  ),
}

const readySchema = {
  tags: ['operation'],
  operationId: 'ready',
  summary: 'Can it serve calls?',
  security: [],
  response: {
    200: Type.Object(Readiness, { description: 'It can.' }),
    503: Type.Object(Readiness, { description: 'It cannot, or not any more.' }),
  },
}

const metricsSchema = {
  tags: ['operation'],
  operationId: 'metrics',
  summary: 'Prometheus metrics',
  security: [],
  response: {
    200: { description: 'Text exposition format.', content: { 'text/plain': { schema: Type.String() } } },
  },
}
