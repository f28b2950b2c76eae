import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { answerClusterMetrics } from '#ops/cluster-metrics.ts'

/** A worker that dies is replaced, but not in a tight loop. */
const RESTART_MS = 1_000

/**
 * Runs `count` processes of the gateway on one port until SIGTERM or SIGINT; resolves with the exit code. A worker that
 * ends before it listens ends them all: what it lacks, the others lack as well.
 */
export async function runWorkers(count: number, env: Readonly<Record<string, string>>): Promise<number> {
  const listening = new Set<number>()
  let isStopping = false
  let exitCode = 0

  const stop = (signal: NodeJS.Signals) => {
    for (const worker of workers()) worker.process.kill(isStopping ? 'SIGKILL' : signal)
    isStopping = true
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal))

  // The workers end with this process: a rejection that nothing handled must not end it.
  process.on('unhandledRejection', (error) => console.error(error))
  answerClusterMetrics()
  cluster.on('listening', (worker) => listening.add(worker.id))
  cluster.on('exit', (worker, code) => {
    if (isStopping) {
      exitCode ||= code
    } else if (listening.has(worker.id)) {
      setTimeout(() => isStopping || cluster.fork(env), RESTART_MS)
    } else {
      exitCode = code || 1
      stop('SIGTERM')
    }
  })

  for (let index = 0; index < count; index += 1) cluster.fork(env)
  while (!isStopping || workers().length > 0) await once(cluster, 'exit')
  return exitCode
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}
