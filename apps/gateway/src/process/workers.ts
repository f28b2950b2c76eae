import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { markRejectionHandled } from '#core/async/mark-rejection-handled.ts'
import { serveClusterMetrics } from '#ops/cluster-metrics.ts'
import { LogOutput } from '#ops/log-output.ts'
import { watchStopSignals } from './stop-signals.ts'

/** The delay before a worker that died is replaced, so that a worker that always dies does not cause a tight loop. */
const RESTART_MS = 1_000
/** How long to wait, after the last worker has ended, for the rest of its output. */
const FORWARD_MS = 1_000

/**
 * Runs `count` processes of the gateway on one port until SIGTERM or SIGINT, and resolves with the exit code. A worker that
 * ends before it listens stops all of them, since the others would fail for the same reason.
 */
export async function runWorkers(count: number, env: Readonly<Record<string, string>>): Promise<number> {
  const listening = new Set<number>()
  const output = new LogOutput()
  const forwarding = new Set<Promise<void>>()
  let isStopping = false
  let exitCode = 0

  const stop = (signal: NodeJS.Signals) => {
    for (const worker of workers()) worker.process.kill(isStopping ? 'SIGKILL' : signal)
    isStopping = true
  }
  watchStopSignals(stop)

  // The workers end with this process, so an unhandled rejection must not end it.
  process.on('unhandledRejection', (error) => console.error(error))
  serveClusterMetrics()
  // Each worker writes to a pipe of its own, because each process that shares a pipe can make it blocking for all of them.
  cluster.setupPrimary({ stdio: ['inherit', 'pipe', 'inherit', 'ipc'] })
  cluster.on('fork', ({ process: { stdout } }) => {
    if (stdout === null || stdout === undefined) return
    const forwarded = markRejectionHandled(
      forwardLines(stdout, output).finally(() => forwarding.delete(forwarded)),
    )
    forwarding.add(forwarded)
  })
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
  await Promise.race([Promise.all(forwarding), pause(FORWARD_MS)])
  await output.close()
  return exitCode
}

/**
 * Forwards whole lines, and stops reading while the output has no room. Meanwhile the worker buffers its lines, and drops
 * and counts those that do not fit.
 */
async function forwardLines(stdout: Readable, output: LogOutput): Promise<void> {
  let rest = ''
  stdout.setEncoding('utf8')
  try {
    for await (const chunk of stdout) {
      const text: string = rest + chunk
      const end = text.lastIndexOf('\n') + 1
      rest = text.slice(end)
      if (end > 0) output.write(text.slice(0, end))
      await output.ready()
    }
  } catch {
    // The worker died in the middle of a line; the part that arrived is written below.
  }
  if (rest !== '') output.write(`${rest}\n`)
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}
