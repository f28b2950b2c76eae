import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '#config/load.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { sleep } from '#core/base/async/sleep.ts'
import { isConnectionError, writeObstacle } from '#core/base/errors/connection-error.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { isOpenToOthers } from '#core/database/disk/private-directory.ts'
import { lockDataDir } from '#core/database/embedded/data-dir-lock.ts'
import { requireCurrentBuild } from '#core/database/migrations/min-build.ts'
import { openDatabase } from '#core/database/open.ts'
import { readPendingMigrations } from '#core/database/unusable-database.ts'
import { serveCommands } from '#ops/command-socket.ts'
import { EngineReport } from '#ops/engine-report.ts'
import { LogOutput } from '#ops/log-output.ts'
import { createLogger } from '#ops/logger.ts'
import { identifyProcess } from '#ops/process-identity.ts'
import { surviveStrayRejections } from '#ops/stray-rejections.ts'
import { createOpsServer, createServer } from '#server/create-server.ts'
import { createGateway, type Gateway } from '../composition/gateway.ts'
import { createCommands } from './commands.ts'
import { doubtfulSettings } from './config-check/check-environment.ts'
import { ownFile, primarysFile } from './configuration-file.ts'
import { introduceToPrimary, whenPrimaryEnds, whenPrimaryReloads } from './primary.ts'
import { refusalLine } from './refusal-line.ts'
import { startSandboxAgents, withSandboxAgents } from './sandbox-agents.ts'
import { closeServer, type Serving, stopServing } from './stop-serving.ts'
import { watchStopSignals } from './stop-signals.ts'
import { createWaiting, type Waiting } from './waiting.ts'
import { type FirstAdmin, welcome } from './welcome.ts'

const RECONNECT_MS = 1_000

type Say = (line: string) => void

/**
 * Runs the gateway until SIGTERM or SIGINT, or until its terminal is closed, then shuts it down in order: it stops serving, writes the end of every
 * call, closes the database and releases its directory.
 *
 * @throws OperatorError if the start fails for a reason that the operator can correct
 */
export async function start(settings: Config): Promise<void> {
  const output = new LogOutput()
  // Messages for people take the same path as log lines, because a terminal can be paused (Ctrl-S) and must not block us.
  // In production there are none, so that every line is JSON.
  const print: Say = settings.production ? () => undefined : (line) => output.write(`${line}\n`)
  const say: Say = isPrintingWorker() ? print : () => undefined
  const identity = identifyProcess()
  const log = createLogger(settings.logLevel, output, identity)
  markRejectionHandled(introduceToPrimary(identity))
  const { stopped, markStarted } = watchStop(settings, log)
  const closers: (() => Promise<unknown>)[] = []
  let endsNotWritten = 0
  try {
    const engine = new EngineReport(log)
    const database = await openOwned(settings, closers, { say, engine, log })
    const config = await withAgents(settings, closers, say)
    const gateway = await createGateway({
      config,
      database,
      runtime: systemRuntime,
      log,
      identity,
      tracing: config.tracing,
      configurationFile: cluster.isWorker ? primarysFile(config) : ownFile(config),
    })
    closers.push(() => gateway.metrics.close())
    surviveStrayRejections({ metrics: gateway.metrics, log })
    gateway.metrics.watchLog(output)
    if (database.kind === 'embedded') gateway.metrics.watchEngine(engine)
    if (isPrintingWorker()) warnOfDoubtfulSettings(config, log)
    const waiting = createWaiting({ databaseUrl: config.databaseUrl, log, say })
    const preparation = { config, gateway, database, say }
    const isPrepared = await ifReachable(preparation, waiting, () => prepare(preparation))
    const { promise: completed, resolve: endWait } = Promise.withResolvers<void>()
    if (isPrepared) gateway.holdRequestsFor(completed)
    const serving = await listenForRequests({ config, gateway, database, log }, closers)
    const { port } = serving.app.server.address() as AddressInfo
    const address = reachedAt(config, port)
    gateway.reachedAt(address, port)
    const announce = (admin: FirstAdmin | undefined) => {
      if (admin !== undefined) log.info({ username: admin.username }, 'the first administrator was created')
      if (admin === undefined && !isPrintingWorker()) return
      welcome({ ...config, publicUrl: address }, { admin, hasConsole: serving.app.hasConsole }, print)
    }
    // Only now, so that a start that fails leaves neither an administrator whose password nobody was told, nor the row of a
    // process that seems lost.
    const complete = async () => {
      const admin = await createFirstAdmin(config, gateway)
      await gateway.open().finally(() => announce(admin))
    }
    if (isPrepared) await ifReachable(preparation, waiting, complete).finally(endWait)
    log.info({ address, agents: config.agents.map(({ id }) => id) }, 'listening')
    markStarted(() => reloadBySignal(gateway, log))
    if (!gateway.health.isPrepared)
      markRejectionHandled(retryStart(preparation, { stopped, waiting, complete }))

    endsNotWritten = await stopServing({
      ...serving,
      gateway,
      drain: config.drain,
      signal: await stopped,
      log,
    })
  } finally {
    for (const close of closers.reverse()) {
      await close().catch((error: unknown) => log.warn({ err: error }, 'a part did not close'))
    }
  }
  // Another process settles those as interrupted.
  log[endsNotWritten === 0 ? 'info' : 'warn']({ endsNotWritten }, 'stopped')
  await output.close()
}

/** An embedded database has one owner, so its directory is locked before anything in it is read or written. */
async function openOwned(
  config: Config,
  closers: (() => Promise<unknown>)[],
  { say, engine, log }: { say: Say; engine: EngineReport; log: Logger },
): Promise<Database> {
  if (config.databaseUrl !== undefined) {
    say('connecting to PostgreSQL')
    const database = await openDatabase({ kind: 'server', url: config.databaseUrl })
    closers.push(() => database.close())
    return database
  }
  say(`opening the embedded database in ${config.dataDir}`)
  const lock = await lockDataDir(config.dataDir)
  closers.push(() => lock.release())
  if (await isOpenToOthers(config.dataDir)) {
    log.warn(
      { dataDir: config.dataDir },
      'DATA_DIR is open to other accounts; what the gateway creates in it is not',
    )
  }
  const database = await openDatabase({ kind: 'embedded', dataDir: config.dataDir, observer: engine })
  closers.push(() => database.close())
  return database
}

/** In sandbox mode the emulators are the agents. They run in this process or, for a worker, in its primary. */
async function withAgents(config: Config, closers: (() => Promise<unknown>)[], say: Say): Promise<Config> {
  if (!config.sandbox) return config
  const { sandboxAgents } = config.document
  if (sandboxAgents !== undefined) return withSandboxAgents(config, sandboxAgents)
  say('starting the sandbox agents')
  const { entries, close } = await startSandboxAgents()
  closers.push(close)
  return withSandboxAgents(config, entries)
}

/** Warnings only: a variable may be another program's, and a bound may be meant never to be reached. */
function warnOfDoubtfulSettings(config: Config, log: Logger): void {
  // Outside production nobody needs as many files as the bounds allow; `config check` names them there as well.
  const filesMax = config.production ? undefined : Number.POSITIVE_INFINITY
  for (const { name, problem } of doubtfulSettings(config, filesMax)) {
    log.warn({ setting: name }, `${name}: ${problem}`)
  }
}

/** Only one of several workers prints to the terminal, and also the one that created the administrator. */
function isPrintingWorker(): boolean {
  return (cluster.worker?.id ?? 1) === 1
}

interface Preparation {
  readonly config: Config
  readonly gateway: Gateway
  readonly database: Database
  readonly say: Say
}

/** If the database server is down or read only, the process starts anyway, reports that it is not ready, and tries again later. */
async function ifReachable(
  { database }: Preparation,
  waiting: Waiting,
  step: () => Promise<void>,
): Promise<boolean> {
  try {
    await step()
    return true
  } catch (error) {
    const isPassing = isConnectionError(error) || writeObstacle(error) === 'read_only'
    if (database.kind === 'embedded' || !isPassing) throw error
    waiting.failed(error)
    return false
  }
}

interface Retrying {
  readonly stopped: Promise<string>
  readonly waiting: Waiting
  complete(): Promise<void>
}

/** Never rejects, because the operator may correct the cause while the process keeps trying. */
async function retryStart(parts: Preparation, { stopped, waiting, complete }: Retrying): Promise<void> {
  let isStopping = false
  markRejectionHandled(
    stopped.then(() => {
      isStopping = true
    }),
  )
  while (!isStopping) {
    await sleep(RECONNECT_MS)
    try {
      await prepare(parts)
      await complete()
      waiting.succeeded()
      return
    } catch (error) {
      if (!isStopping) waiting.failed(error)
    }
  }
}

/** In production the operator applies migrations (`trunkline migrate`); elsewhere the gateway does. */
async function prepare({ config, gateway, database, say }: Preparation): Promise<void> {
  const pending = await readPendingMigrations(database)
  if (pending.length > 0 && config.production) {
    throw new OperatorError(
      `The database lacks ${pending.length} ${pending.length === 1 ? 'migration' : 'migrations'}: run "trunkline migrate" first (${pending.join(', ')}).`,
    )
  }
  if (pending.length > 0) {
    say(`applying ${pending.length === 1 ? 'a migration' : `${pending.length} migrations`}`)
    await database.migrate()
  }
  await requireCurrentBuild(database.sql)
  await gateway.prepare()
  if (!config.production || config.adminPassword !== undefined) return
  if (await gateway.processTasks.firstStart.usersExist()) return
  throw new OperatorError(
    'ADMIN_PASSWORD: is required in production while there is no user; expected 8 to 256 characters.',
  )
}

async function createFirstAdmin(
  config: Config,
  { processTasks: { firstStart } }: Gateway,
): Promise<FirstAdmin | undefined> {
  const { adminUsername: username, adminPassword } = config
  if (await firstStart.usersExist()) return undefined
  const password = adminPassword ?? randomBytes(15).toString('base64url')
  const created = await firstStart.createFirstAdmin({ username, password })
  if (created === undefined) return undefined
  return adminPassword === undefined ? { username, password } : { username }
}

interface Listening extends Pick<Preparation, 'config' | 'gateway' | 'database'> {
  readonly log: Logger
}

async function listenForRequests(
  { config, gateway, database, log }: Listening,
  closers: (() => Promise<unknown>)[],
): Promise<Serving> {
  if (config.opsPort !== undefined) {
    const ops = await createOpsServer(config, gateway, log)
    await listen(ops, config.host, config.opsPort, 'OPS_PORT')
    // The list is closed in reverse, so this server is closed last and reports the drain until the end.
    closers.unshift(() => closeServer(ops))
  }
  const app = await createServer(config, gateway, log, config.console ? 'as built' : undefined)
  await listen(app, config.host, config.port, 'PORT')
  closers.push(() => closeServer(app))
  if (config.databaseUrl !== undefined) return { app, commands: undefined }
  const run = createCommands({ ...gateway, database })
  const commands = await serveCommands(config.dataDir, run, (error) => {
    const line = refusalLine(error)
    if (line === undefined) log.error({ err: error }, 'a command failed')
    return line ?? 'The gateway failed to carry out the command; its log says why.'
  })
  closers.push(() => commands.close(0))
  return { app, commands }
}

/**
 * How many connections may wait to be accepted. A gateway that restarts gets those of all its clients at once, and beyond
 * Node's 511 the kernel resets them. The kernel lowers it to `net.core.somaxconn`, which is 4096 since Linux 5.4.
 */
const BACKLOG = 4_096

async function listen(app: FastifyInstance, host: string, port: number, name: string): Promise<void> {
  try {
    await app.listen({ host, port, backlog: BACKLOG })
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? `port ${port} is in use; set ${name} to a free one` : message
    throw new OperatorError(`Cannot listen on ${host}:${port}: ${why}.`, { cause })
  }
}

/** The public URL with the port that the system chose if `PORT` is 0. */
function reachedAt({ port, publicUrl }: Config, chosen: number): string {
  return port === 0 ? publicUrl.replace(/:0$/, `:${chosen}`) : publicUrl
}

/**
 * Waits for a signal or, in a worker, the end of its primary. While the gateway starts, a signal ends the process at once: what
 * the start waits for may never happen, and a process that is killed then loses nothing. Afterwards the first signal starts an
 * orderly shutdown and the second ends the process. A worker ignores the second, since its primary sends SIGKILL.
 */
function watchStop(
  { drain, isUnderNpx }: Pick<Config, 'drain' | 'isUnderNpx'>,
  log: Logger,
): {
  stopped: Promise<string>
  /** @param reload - what the signal to reload does from now on */
  markStarted(reload: () => void): void
} {
  const { promise: stopped, resolve } = Promise.withResolvers<string>()
  let reload: (() => void) | undefined
  const notYet = () => log.warn('the configuration is not reloaded: the gateway has not started yet')
  const stopWatching = watchStopSignals(isUnderNpx, {
    stop(signal, isSecond) {
      if (reload === undefined) {
        stopWatching()
        endBy(signal)
      }
      if (isSecond && !cluster.isWorker) process.exit(1)
      resolve(signal)
    },
    reload: () => (reload ?? notYet)(),
  })
  whenPrimaryReloads(() => (reload ?? notYet)())
  whenPrimaryEnds(drain.acceptMs + drain.timeoutMs, () => {
    if (reload === undefined) process.exit(1)
    resolve('the primary ended')
  })
  return {
    stopped,
    markStarted(toReload) {
      reload = toReload
    },
  }
}

/** What it has changed is logged where it is served. */
function reloadBySignal({ processTasks: { configuration } }: Gateway, log: Logger): void {
  configuration.reloadBySignal().then(
    ({ number, changed }) =>
      log.info({ number, changed: changed.length }, 'the signal to reload was followed'),
    (error: unknown) => {
      const line = refusalLine(error)
      log.error(line === undefined ? { err: error } : { why: line }, 'the configuration is not reloaded')
    },
  )
}

/**
 * Without a handler the kernel ends the process; `process.exit` alone would wait for a file operation that hangs. The kernel
 * spares the first process of a container, which therefore reaches `process.exit`.
 */
function endBy(signal: NodeJS.Signals): never {
  process.kill(process.pid, signal)
  process.exit(1)
}
