import cluster, { type Worker } from 'node:cluster'
import { Counter, Registry } from 'prom-client'
import { createCachedValue } from '#core/base/async/cached-value.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { METRICS_TTL_MS } from '../health.ts'
import { onceChannelEnded } from './channel-end.ts'
import { isMessage, sendTo, type WorkerMessage } from './messages.ts'
import { MetricsWithDeadWorkers } from './metrics-with-dead-workers.ts'

/** How long a scrape waits for the workers. Of one that does not answer, such as a stuck one, the last report is shown. */
const ANSWER_WITHIN_MS = 1_000

/** How a worker ended: by SIGKILL (an operator, or the kernel for want of memory), by another signal, or by itself. */
const CAUSES = ['killed', 'crashed', 'exited'] as const
type Cause = (typeof CAUSES)[number]

/** The primary's side of the metrics: the latest reports of its workers and what it counts itself. */
export type PrimaryMetrics = ReturnType<typeof servePrimaryMetrics>

/** Collects the reports of all workers, and answers each worker that requests the metrics. */
export function servePrimaryMetrics() {
  const metrics = new MetricsWithDeadWorkers()
  /** The places of the workers that have not ended. */
  const places = new Map<Worker, number>()
  /** The workers that have reported, and therefore answer. */
  const reporting = new Set<Worker>()
  const requests = new Map<number, { readonly waiting: Set<Worker>; done(): void }>()
  let requestCount = 0

  const own = new Registry()
  const deaths = countDeaths(own)

  /** Requests a report of each worker; resolves when all have answered or ended, or the time is over. */
  function freshReports(): Promise<void> {
    requestCount += 1
    const id = requestCount
    const waiting = new Set(reporting)
    if (waiting.size === 0) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => requests.get(id)?.done(), ANSWER_WITHIN_MS)
    requests.set(id, {
      waiting,
      done() {
        clearTimeout(timer)
        requests.delete(id)
        resolve()
      },
    })
    for (const worker of waiting) sendTo(worker, { kind: 'report?', id })
    return promise
  }

  function hasAnswered(worker: Worker, id: number): void {
    const request = requests.get(id)
    request?.waiting.delete(worker)
    if (request?.waiting.size === 0) request.done()
  }

  async function render(): Promise<string> {
    await freshReports()
    return metrics.text(await own.getMetricsAsJSON())
  }
  const text = createCachedValue(render, {
    runtime: { elapsedMs: () => performance.now() },
    ttlMs: METRICS_TTL_MS,
  })

  async function answer(worker: Worker, id: number): Promise<void> {
    sendTo(worker, { kind: 'metrics', answers: id, text: await text.get() })
  }

  cluster.on('message', (worker, message: unknown) => {
    const place = places.get(worker)
    if (place === undefined) return
    if (isMessage<WorkerMessage, 'report'>('report', message)) {
      reporting.add(worker)
      metrics.receive(place, message.report)
      if (message.id !== undefined) hasAnswered(worker, message.id)
    } else if (isMessage<WorkerMessage, 'metrics?'>('metrics?', message)) {
      markRejectionHandled(answer(worker, message.id))
    }
  })
  function ended(worker: Worker, place: number): void {
    places.delete(worker)
    reporting.delete(worker)
    metrics.end(place)
    for (const id of [...requests.keys()]) hasAnswered(worker, id)
  }

  return {
    /** Adds a worker, in the place that it takes over. */
    add(worker: Worker, place: number): void {
      places.set(worker, place)
      onceChannelEnded(worker, () => ended(worker, place))
    },
    workerDied: (signal: string | null): void => deaths.inc({ cause: causeOf(signal) }),
  }
}

/** The counter of deaths, which only a primary has. */
export function countDeaths(registry: Registry): Counter<'cause'> {
  const deaths = new Counter({
    name: 'trunkline_worker_deaths_total',
    help: 'Workers that ended although the gateway was not stopped: killed (by SIGKILL), crashed (by another signal) or exited.',
    labelNames: ['cause'],
    registers: [registry],
  })
  // The first increase of a series that begins with it would not be seen.
  for (const cause of CAUSES) deaths.inc({ cause }, 0)
  return deaths
}

function causeOf(signal: string | null): Cause {
  if (signal === null) return 'exited'
  return signal === 'SIGKILL' ? 'killed' : 'crashed'
}
