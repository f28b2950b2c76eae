import cluster from 'node:cluster'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { createCachedValue } from '#core/base/async/cached-value.ts'
import type { Metrics } from './metrics/metrics.ts'

/** The state of a dependency. `detail` is a text for operators and contains no secrets. */
export interface DependencyState {
  readonly ok: boolean
  readonly detail?: string
  /**
   * Of the database: whether it takes what is written. All processes share it, and each can still serve what only reads, so this does
   * not make the process unready.
   */
  readonly writable?: boolean
  /** True if chats are served without it, so that its failure does not make the process unready. */
  readonly optional?: boolean
}

export interface Health {
  /** Whether the start is complete. Until then every request that needs the database is refused. */
  readonly isPrepared: boolean
  /** Whether the process is about to stop. It is not ready any more, but serves calls until it drains. */
  readonly isStopping: boolean
  /** Whether new calls are refused. */
  readonly isDraining: boolean
  dependencies(): Promise<Record<string, DependencyState>>
}

/** How long the metrics are shown as they are: the text has hundreds of kilobytes, and needs no credential. */
export const METRICS_TTL_MS = 1_000

export function healthRoutes(app: FastifyInstance, health: Health, metrics: Metrics): void {
  // A process that is full is not dead: a restart would end all of its calls.
  const config = { isAlwaysAnswered: true }
  // As bytes, so that it is encoded once for all responses. The primary of several workers keeps one text for all of them: with
  // one for each, a counter could go back from one scrape to the next.
  const metricsText = createCachedValue(async () => Buffer.from(await metrics.text()), {
    runtime: { elapsedMs: () => performance.now() },
    ttlMs: cluster.isWorker ? 0 : METRICS_TTL_MS,
  })
  app.get('/healthz', { schema: liveSchema, config }, async () => ({ status: 'ok' as const }))

  app.get('/readyz', { schema: readySchema, config }, async (_request, reply) => {
    const dependencies = await health.dependencies()
    const isReady =
      !health.isStopping && Object.values(dependencies).every(({ ok, optional }) => ok || optional)
    if (!isReady) reply.status(503).header('retry-after', '1')
    return { status: health.isStopping ? 'draining' : isReady ? 'ready' : 'not_ready', dependencies }
  })

  app.get('/metrics', { schema: metricsSchema, config }, async (_request, reply) => {
    reply.type(metrics.contentType)
    return metricsText.get()
  })
}

const liveSchema = {
  tags: ['operation'],
  operationId: 'live',
  summary: 'Check whether the process is alive',
  description: 'Always succeeds while the process can serve requests at all. It queries no dependency.',
  security: [],
  response: {
    200: Type.Object(
      { status: Type.Literal('ok', { description: 'Always `ok`.' }) },
      { description: 'The process is alive.' },
    ),
  },
}

const Readiness = {
  status: Type.Union([Type.Literal('ready'), Type.Literal('not_ready'), Type.Literal('draining')], {
    description:
      '`draining` means that the process is stopping: it serves calls for `drain.acceptMs`, and then only finishes those that run.',
  }),
  dependencies: Type.Record(
    Type.String(),
    Type.Object({
      ok: Type.Boolean({ description: 'Whether the dependency can be used as it is.' }),
      detail: Type.Optional(Type.String({ description: 'What is wrong with it, for operators.' })),
      writable: Type.Optional(
        Type.Boolean({
          description:
            'Only of a database that answers. False while it takes no writes, because it is read only, its disk is full or a right is missing: the process is ready, logins and reads go on, and what needs to write is answered 503.',
        }),
      ),
      optional: Type.Optional(
        Type.Boolean({
          description: 'True if the process is ready without it: only uploads need the storage.',
        }),
      ),
    }),
    {
      description:
        'The state of the database, of the storage of files, of the disk below an embedded database and, if it is configured, of Redis.',
    },
  ),
}

const readySchema = {
  tags: ['operation'],
  operationId: 'ready',
  summary: 'Check whether the process can serve calls',
  description: 'Queries the dependencies at most once a second, however often it is called.',
  security: [],
  response: {
    200: Type.Object(Readiness, { description: 'The process can serve calls.' }),
    503: Type.Object(Readiness, { description: 'The process cannot serve calls yet or any more.' }),
  },
}

const metricsSchema = {
  tags: ['operation'],
  operationId: 'metrics',
  summary: 'Read the metrics',
  description:
    'Returns the metrics of the process, or of all workers where there are several. They are rendered at most once a second.',
  security: [],
  response: {
    200: {
      description: "The metrics in Prometheus' text exposition format.",
      content: { 'text/plain': { schema: Type.String() } },
    },
  },
}
