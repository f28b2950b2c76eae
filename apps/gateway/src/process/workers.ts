import cluster from 'node:cluster'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config, ConfigDocument } from '#config/load.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { servePrimaryMetrics } from '#ops/cluster/primary-metrics.ts'
import { LogOutput } from '#ops/log-output.ts'
import { createLogger } from '#ops/logger.ts'
import { servePrimaryConfiguration } from './primary-configuration.ts'
import { watchStopSignals } from './stop-signals.ts'
import { WorkerSupervisor } from './worker-supervisor.ts'

/** How long to wait, after the last worker has ended, for the rest of its output. */
const FORWARD_MS = 1_000

/**
 * Runs several processes of the gateway on one port until SIGTERM or SIGINT, and resolves with the exit code. A worker that dies is
 * replaced; only if one ends before any has listened, all of them stop, since the others would fail for the same reason.
 *
 * @param sandboxAgents - the entries of the emulators, if this process runs them
 */
export async function runWorkers(
  config: Config,
  sandboxAgents?: ConfigDocument['sandboxAgents'],
): Promise<number> {
  const { workers: count, logLevel, isUnderNpx } = config
  const output = new LogOutput()
  const log = createLogger(logLevel, output)
  // The workers end with this process, so an unhandled rejection must not end it.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection in the primary'))
  const forwarding = forwardOutput(output, log)
  const configuration = servePrimaryConfiguration(config, sandboxAgents)
  const supervisor = new WorkerSupervisor(count, { log, metrics: servePrimaryMetrics() })
  watchStopSignals(isUnderNpx, {
    stop: (signal) => supervisor.stop(signal),
    reload() {
      if (!configuration.reload()) log.warn('the configuration is not reloaded: no worker has started yet')
    },
  })
  const exitCode = await supervisor.run()
  await Promise.race([Promise.all(forwarding), pause(FORWARD_MS)])
  await output.close()
  return exitCode
}

/**
 * Forwards the output of the workers to this process's own. Each worker writes to a pipe of its own, because each process
 * that shares a pipe can make it blocking for all of them.
 *
 * @returns the workers whose output has not ended
 */
function forwardOutput(output: LogOutput, log: Logger): ReadonlySet<Promise<void>> {
  const forwarding = new Set<Promise<void>>()
  cluster.setupPrimary({ stdio: ['inherit', 'pipe', 'inherit', 'ipc'] })
  cluster.on('fork', ({ process: { stdout } }) => {
    if (stdout === null || stdout === undefined) return
    const forwarded = markRejectionHandled(
      forwardLines(stdout, output, log).finally(() => forwarding.delete(forwarded)),
    )
    forwarding.add(forwarded)
  })
  return forwarding
}

/**
 * Forwards whole lines, and stops reading while the output has no room. Meanwhile the worker buffers its lines, and drops
 * and counts those that do not fit.
 */
async function forwardLines(stdout: Readable, output: LogOutput, log: Logger): Promise<void> {
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
    // The worker died in the middle of a line; the part that arrived is logged below.
  }
  // A part of a line is not JSON, so readers of the log could not parse it as it is.
  if (rest !== '') log.warn({ part: rest }, 'a worker died in the middle of a line')
}
