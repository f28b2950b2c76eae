import cluster, { type Worker } from 'node:cluster'
import { AggregatorRegistry, type Registry } from 'prom-client'

/** In a worker: makes this process answer the primary's requests for its metrics. */
export function reportToPrimary(registry: Registry): void {
  AggregatorRegistry.setRegistries([registry])
  // The constructor registers the listener of the worker.
  void new AggregatorRegistry()
}

/** The metrics of all workers. A scrape reaches one worker, which requests them from the primary. */
export function readClusterMetrics(): Promise<string> {
  const id = Math.random()
  return new Promise((resolve) => {
    const onMessage = (message: unknown) => {
      if (!isOf('metrics', message) || message.id !== id) return
      process.off('message', onMessage)
      resolve(String(message.text))
    }
    process.on('message', onMessage)
    process.send?.({ kind: 'metrics?', id })
  })
}

/** In the primary: collects the metrics of all workers whenever a worker requests them. */
export function serveClusterMetrics(): void {
  const registry = new AggregatorRegistry()
  const answer = async (worker: Worker, id: unknown) => {
    const text = await registry.clusterMetrics().catch(() => '')
    if (worker.isConnected()) worker.send({ kind: 'metrics', id, text })
  }
  cluster.on('message', (worker, message: unknown) => {
    // The worker may have ended in the meantime, so a failure to send is ignored.
    if (isOf('metrics?', message)) answer(worker, message.id).catch(() => undefined)
  })
}

function isOf(kind: string, message: unknown): message is { id: unknown; text?: unknown } {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === kind
}
