import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { handled } from '#core/handled.ts'
import { answerClusterMetrics } from '#ops/cluster-metrics.ts'
import { LogOutput } from '#ops/log-output.ts'

/** A worker that dies is replaced, but not in a tight loop. */
const RESTART_MS = 1_000
/** How long after the last worker's end the rest of what it has printed may take. */
const FORWARD_MS = 1_000

/**
 * Runs `count` processes of the gateway on one port until SIGTERM or SIGINT; resolves with the exit code. A worker that
 * ends before it listens ends them all: what it lacks, the others lack as well.
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
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal))

  // The workers end with this process: a rejection that nothing handled must not end it.
  process.on('unhandledRejection', (error) => console.error(error))
  answerClusterMetrics()
  // Each worker writes into a pipe of its own: whether a shared one blocks could be changed by each of them for all.
  cluster.setupPrimary({ stdio: ['inherit', 'pipe', 'inherit', 'ipc'] })
  cluster.on('fork', ({ process: { stdout } }) => {
    if (stdout === null || stdout === undefined) return
    const forwarded = handled(forwardLines(stdout, output).finally(() => forwarding.delete(forwarded)))
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
 * Passes whole lines on, and reads no further where they are not taken: the worker then has its own buffer, drops what does
 * not fit in, and counts it.
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
    // The worker died in the middle of a line.
  }
  if (rest !== '') output.write(`${rest}\n`)
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}
