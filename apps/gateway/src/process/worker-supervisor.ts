import cluster, { type Worker } from 'node:cluster'
import type { Logger } from 'pino'
import { isMessage, type WorkerMessage } from '#ops/cluster/messages.ts'
import type { PrimaryMetrics } from '#ops/cluster/primary-metrics.ts'
import { closeHandedOver } from './handed-over.ts'
import { RestartDelay } from './restart-delay.ts'

export interface WorkerSupervisorDeps {
  readonly log: Logger
  readonly metrics: PrimaryMetrics
}

/** A worker that runs. */
interface Run {
  readonly worker: Worker
  readonly place: number
  readonly startedMs: number
  /** Whether it runs in the place of one that died, and has not listened yet. */
  isReplacing: boolean
  /** The id of its instance, once it has sent it. */
  instance: string | undefined
}

interface End {
  readonly code: number | null
  readonly signal: string | null
}

/** Starts workers, and replaces those that die, until it is stopped. */
export class WorkerSupervisor {
  readonly #deps: WorkerSupervisorDeps
  readonly #delays: readonly RestartDelay[]
  readonly #runs = new Map<Worker, Run>()
  readonly #ended = Promise.withResolvers<number>()
  #hasListened = false
  /** How often it was requested to stop. */
  #stops = 0
  #exitCode = 0

  constructor(count: number, deps: WorkerSupervisorDeps) {
    this.#deps = deps
    this.#delays = Array.from({ length: count }, () => new RestartDelay())
    cluster.on('message', (worker, message: unknown) => {
      const run = this.#runs.get(worker)
      if (run !== undefined && isMessage<WorkerMessage, 'worker'>('worker', message))
        run.instance = message.instance
    })
    cluster.on('listening', (worker) => this.#listening(this.#runs.get(worker)))
    cluster.on('exit', (worker, code: number | null, signal: string | null) => {
      const run = this.#runs.get(worker)
      if (run !== undefined) this.#exited(run, { code, signal })
    })
  }

  /** Starts the workers. Resolves with the exit code when all have ended and none is to be started any more. */
  run(): Promise<number> {
    for (const place of this.#delays.keys()) this.#fork(place, false)
    return this.#ended.promise
  }

  /** Passes the signal on, and the second time kills what still runs. A worker ignores the end of its terminal. */
  stop(signal: NodeJS.Signals): void {
    this.#stops += 1
    const passed = signal === 'SIGHUP' ? 'SIGTERM' : signal
    for (const worker of this.#runs.keys()) worker.process.kill(this.#stops > 1 ? 'SIGKILL' : passed)
    this.#endIfDone()
  }

  #fork(place: number, isReplacing: boolean): void {
    if (this.#stops > 0) return
    const worker = cluster.fork()
    closeHandedOver(worker)
    const startedMs = performance.now()
    this.#runs.set(worker, { worker, place, startedMs, isReplacing, instance: undefined })
    this.#deps.metrics.add(worker, place)
  }

  #listening(run: Run | undefined): void {
    this.#hasListened = true
    if (run?.isReplacing !== true) return
    run.isReplacing = false
    this.#deps.log.info({ worker: describe(run) }, 'a worker was replaced')
  }

  #exited(run: Run, end: End): void {
    this.#runs.delete(run.worker)
    const isStopping = this.#stops > 0
    // After a start that failed, the others fail as well.
    const isExpected = isStopping && (end.code === 0 || this.#stops > 1 || !this.#hasListened)
    if (!isExpected) this.#died(run, end)
    if (isStopping) this.#exitCode ||= end.code ?? 0
    this.#endIfDone()
  }

  /** Logs and counts the death of a worker, and has it replaced. */
  #died(run: Run, end: End): void {
    const { log, metrics } = this.#deps
    const ranMs = Math.round(performance.now() - run.startedMs)
    const death = { worker: describe(run), ...end, ranMs }
    metrics.workerDied(end.signal)
    if (this.#stops > 0) {
      log.error(death, 'a worker died while it was stopping')
    } else if (this.#hasListened) {
      const restartMs = this.#delays[run.place]?.next(ranMs) ?? 0
      log.error({ ...death, restartMs }, 'a worker died and will be replaced')
      setTimeout(() => this.#fork(run.place, true), restartMs)
    } else {
      log.fatal(death, 'a worker ended before any had started, so the gateway stops')
      this.#exitCode = end.code || 1
      this.stop('SIGTERM')
    }
  }

  #endIfDone(): void {
    if (this.#stops > 0 && this.#runs.size === 0) this.#ended.resolve(this.#exitCode)
  }
}

function describe({ worker, instance }: Run) {
  return { id: worker.id, pid: worker.process.pid, instance }
}
