import cluster, { type Worker } from 'node:cluster'
import { AggregatorRegistry, type Registry } from 'prom-client'

/** In a worker: gives the primary this process's metrics when it asks. */
export function reportToPrimary(registry: Registry): void {
  AggregatorRegistry.setRegistries([registry])
  // Its construction is what makes a worker listen.
  void new AggregatorRegistry()
}

/** A scrape reaches one worker and means all of them: the worker asks the primary, which asks every worker. */
export function askClusterMetrics(): Promise<string> {
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

/** In the primary: answers the workers' questions. */
export function answerClusterMetrics(): void {
  const registry = new AggregatorRegistry()
  const answer = async (worker: Worker, id: unknown) => {
    const text = await registry.clusterMetrics().catch(() => '')
    if (worker.isConnected()) worker.send({ kind: 'metrics', id, text })
  }
  cluster.on('message', (worker, message: unknown) => {
    // A worker that ends meanwhile needs no answer.
    if (isOf('metrics?', message)) answer(worker, message.id).catch(() => undefined)
  })
}

function isOf(kind: string, message: unknown): message is { id: unknown; text?: unknown } {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === kind
}
