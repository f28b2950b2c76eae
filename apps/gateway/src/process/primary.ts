import cluster from 'node:cluster'
import type { ProcessIdentity } from '#core/ledger/instances.ts'
import { send } from '#ops/cluster/ask-primary.ts'
import { isMessage, type PrimaryMessage } from '#ops/cluster/messages.ts'

/** How long a worker without a primary may take for all that follows the drain. */
const END_WITHIN_MS = 30_000

/** In a worker: sends the primary the id of its instance, for the line that the primary logs if the worker dies. */
export function introduceToPrimary({ id }: ProcessIdentity): Promise<void> {
  return send({ kind: 'worker', instance: id })
}

/** In a worker: calls `onReload` when an operator has sent the primary the signal to reload the configuration. */
export function whenPrimaryReloads(onReload: () => void): void {
  if (!cluster.isWorker) return
  process.on('message', (message: unknown) => {
    if (isMessage<PrimaryMessage, 'reload'>('reload', message)) onReload()
  })
}

/**
 * In a worker: calls `onEnd` when the primary has ended, after which the worker should drain. By default Node ends a worker
 * at once when its primary dies, and its streams break. A worker without a primary gets no second signal that would end it, so
 * it ends itself when the drain and what follows it take too long.
 */
export function whenPrimaryEnds(drainMs: number, onEnd: () => void): void {
  const { worker } = cluster
  worker?.once('disconnect', () => {
    // Node's own listener, which emits this event, ends the process afterwards unless this is set.
    worker.exitedAfterDisconnect = true
    // The primary read the log of this process, so its further lines are lost.
    console.error(`The primary process ended, so its worker ${process.pid} ends its calls and stops.`)
    setTimeout(() => process.exit(1), drainMs + END_WITHIN_MS).unref()
    onEnd()
  })
}
