import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { openDatabase } from '@trunkline/gateway/src/core/database/open.ts'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { CLOCK_OF_TESTS } from './faked-clock.ts'
import { createGatewayStorage, type GatewayStorage } from './gateway-storage.ts'
import { ADMINISTRATOR, COMPILE_CACHE, copyPreparedDataDir } from './gateway-template.ts'
import { V8_FLAGS } from './v8-flags.ts'

/** The entry of the package that the global setup has built from the sources. */
const MAIN = process.env.TEST_GATEWAY_MAIN ?? join(import.meta.dirname, '../../apps/gateway/bin/trunkline.js')

/** How long a statement of a test may take on a server. */
const QUERY_WITHIN_MS = 120_000

export interface GatewayOptions {
  /** Text of the configuration file. Without it the gateway starts in sandbox mode. */
  readonly config?: string
  readonly env?: Readonly<Record<string, string>>
  /** Path of the module to run instead of the gateway's own. */
  readonly main?: string
  /** The text of `/etc/resolv.conf` as the gateway sees it. Mounting requires root. */
  readonly resolverConfig?: string
  /** URL of a database that the test shares and drops itself. By default the gateway gets a new database. */
  readonly databaseUrl?: string | undefined
  /** Keeps uploads on local disk. By default they are in a bucket of its own where the database is on a server and S3 is given. */
  readonly isOnDisk?: boolean
  /** Starts on an empty database. By default the database is already migrated and contains the administrator. */
  readonly isFirstStart?: boolean
  /** Connects stdout to a pipe, as a shell does. By default it is a socket, which Node creates for child processes. */
  readonly isPiped?: boolean
}

/** A gateway that runs in its own process, started as a user would start it. */
export interface TestGateway {
  readonly url: string
  readonly dataDir: string
  /** The configuration, which a test may write anew before the next start. */
  readonly configFile: string
  readonly admin: { readonly username: string; readonly password: string }
  /** The database server's URL; undefined where the database is embedded. */
  readonly databaseUrl: string | undefined
  readonly storage: GatewayStorage
  /** Everything that the process has printed so far, over all starts. */
  readonly output: string
  /** The part of it that was printed to standard output. */
  readonly stdout: string
  readonly pid: number
  /** Resolves with the first match in the output since the last start, waiting for it if necessary. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  /** Queries the gateway's database. An embedded database can be queried only while the gateway is stopped. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** Runs the command line with the same environment as the gateway. */
  trunkline(...args: string[]): Promise<Finished>
  /** Stops reading the output until {@link TestGateway.resumeOutput} is called. */
  pauseOutput(): void
  resumeOutput(): void
  /** Closes the reading end of the output, so that later writes of the gateway fail. */
  closeOutput(): void
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>
  /** Sends SIGKILL and waits for the process to exit. */
  kill(): Promise<void>
  /** Starts the gateway again on the same data. */
  start(): Promise<void>
  /** Kills the gateway and removes its data directory and database. */
  remove(): Promise<void>
}

export interface Finished {
  readonly code: number | null
  readonly output: string
}

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const gateway = await prepareGateway(options)
  await gateway.start()
  return gateway
}

/** Prepares a gateway without starting it. `options.env` is read again at every start and command. */
export async function prepareGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const home = await mkdtemp(join(tmpdir(), 'trunkline-'))
  const server = process.env.E2E_DATABASE_URL
  const database =
    server === undefined || options.databaseUrl !== undefined
      ? undefined
      : await createScratchDatabase(
          server,
          options.isFirstStart === true ? { template: undefined } : undefined,
        )
  const databaseUrl = options.databaseUrl ?? database?.url
  const configFile = join(home, 'gateway.config.yaml')
  if (options.config !== undefined) await writeFile(configFile, options.config)
  const resolverConfig = options.resolverConfig === undefined ? undefined : join(home, 'resolv.conf')
  if (resolverConfig !== undefined) await writeFile(resolverConfig, options.resolverConfig ?? '')
  const admin = ADMINISTRATOR
  const dataDir = join(home, 'data')
  if (databaseUrl === undefined && options.isFirstStart !== true) await copyPreparedDataDir(dataDir)
  // Gateways that share a database would need the same bucket, so those get none.
  const storage = await createGatewayStorage(
    dataDir,
    options.isOnDisk === true || options.databaseUrl !== undefined,
  )
  const env = () => ({
    PATH: process.env.PATH ?? '',
    PORT: '0',
    DATA_DIR: dataDir,
    ADMIN_PASSWORD: admin.password,
    LOG_LEVEL: 'info',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...storage.env,
    ...options.env,
  })

  let child: ChildProcess | undefined
  let stdout: Readable | null = null
  let output = ''
  let printedLines = ''
  let launchedAt = 0
  let url = ''
  const printed = new EventEmitter()

  async function launch(): Promise<void> {
    const pipe = options.isPiped === true ? await makePipe(join(home, 'output')) : undefined
    const started = run(['start'], home, env(), {
      stdout: pipe?.writeEnd,
      main: options.main,
      resolverConfig,
    })
    child = started
    stdout = pipe?.closeWriteEnd() ?? started.stdout
    // If the test runner exits early, its gateways must not keep running.
    const killWithUs = () => started.kill('SIGKILL')
    process.once('exit', killWithUs)
    started.once('exit', () => process.off('exit', killWithUs))
    const listen = (chunk: Buffer) => {
      output += chunk.toString()
      printed.emit('more')
    }
    stdout?.on('data', listen)
    stdout?.on('data', (chunk: Buffer) => {
      printedLines += chunk.toString()
    })
    started.stderr?.on('data', listen)
    launchedAt = output.length
    const ended = once(started, 'exit').then(([code]) => {
      throw new Error(`the gateway exited with ${code}:\n${output.slice(launchedAt)}`)
    })
    const ready = prints(/"address":"(http[^"]+)".*"msg":"listening"/)
    url = (await Promise.race([ready, ended]))[1] ?? ''
  }

  async function prints(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(output.slice(launchedAt))
      if (match !== null) return match
      await once(printed, 'more')
    }
  }

  return {
    admin,
    databaseUrl,
    storage,
    get url() {
      return url
    },
    dataDir,
    configFile,
    get output() {
      return output
    },
    get stdout() {
      return printedLines
    },
    get pid() {
      return child?.pid ?? 0
    },
    prints,
    async query<Row>(text: string, values?: readonly unknown[]) {
      // Two engines on one directory would each see files that the other one has not written yet.
      if (
        database === undefined &&
        child !== undefined &&
        child.exitCode === null &&
        child.signalCode === null
      )
        throw new Error('an embedded database can be queried only while its gateway does not run')
      const opened = await openDatabase(
        database === undefined
          ? { kind: 'embedded', dataDir }
          : { kind: 'server', url: database.url, statementTimeoutMs: QUERY_WITHIN_MS },
      )
      // The bounds of the gateway's own statements are too short for one that fills a table on a busy machine.
      return opened.patiently(() => opened.sql.query<Row>(text, values)).finally(() => opened.close())
    },
    async trunkline(...args) {
      return finished(run(args, home, env(), { main: options.main }))
    },
    pauseOutput() {
      stdout?.pause()
    },
    resumeOutput() {
      stdout?.resume()
    },
    closeOutput() {
      stdout?.destroy()
    },
    async stop() {
      return end(child, 'SIGTERM')
    },
    async kill() {
      await end(child, 'SIGKILL')
    },
    start: launch,
    async remove() {
      await end(child, 'SIGKILL')
      await database?.drop()
      await storage.drop()
      await rm(home, { recursive: true, force: true })
    },
  }
}

interface CommandOptions {
  readonly env?: Record<string, string>
  readonly cwd?: string
  readonly input?: string
  /** Path of the module to run instead of the gateway's own. */
  readonly main?: string
}

/** Runs `trunkline` to its end, independently of any test gateway. */
export async function trunkline(
  args: readonly string[],
  { env = {}, cwd = tmpdir(), input, main }: CommandOptions = {},
): Promise<Finished> {
  const child = run(args, cwd, { PATH: process.env.PATH ?? '', ...env }, { main })
  if (input !== undefined) child.stdin?.end(input)
  return finished(child)
}

/** Starts `trunkline`, or the program at `main`, and returns without waiting for output or exit. */
export function launch(
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
  main?: string,
): { child: ChildProcess; prints(pattern: RegExp): Promise<RegExpExecArray> } {
  const child = run(args, cwd, { PATH: process.env.PATH ?? '', ...env }, { main })
  let output = ''
  return {
    child,
    async prints(pattern) {
      for (;;) {
        const match = pattern.exec(output)
        if (match !== null) return match
        const [chunk] = await once(child.stdout ?? child, 'data')
        output += String(chunk)
      }
    },
  }
}

interface RunOptions {
  readonly stdout?: number | 'pipe' | undefined
  readonly main?: string | undefined
  /** The path of a file that takes the place of `/etc/resolv.conf`. */
  readonly resolverConfig?: string | undefined
}

function run(
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
  { stdout = 'pipe', main = MAIN, resolverConfig }: RunOptions = {},
): ChildProcess {
  const command = [process.execPath, ...V8_FLAGS, main, ...args]
  const [file = '', ...rest] = resolverConfig === undefined ? command : mounted(resolverConfig, command)
  return spawn(file, rest, {
    cwd,
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...CLOCK_OF_TESTS, ...env },
    stdio: ['pipe', stdout, 'pipe'],
  })
}

/** Each program replaces the one before it, so that signals reach the last. */
function mounted(resolverConfig: string, command: readonly string[]): string[] {
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
  return ['unshare', '--mount', 'sh', '-c', script, resolverConfig, ...command]
}

async function makePipe(path: string) {
  await rm(path, { force: true })
  execFileSync('mkfifo', [path])
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writeEnd = openSync(path, constants.O_WRONLY)
  return {
    writeEnd,
    /** Closes this process's copy of the write end, which the child has inherited, and returns the read end. */
    closeWriteEnd(): Readable {
      closeSync(writeEnd)
      return new Socket({ fd: readEnd, readable: true, writable: false })
    },
  }
}

async function finished(child: ChildProcess): Promise<Finished> {
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<number | null> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null)
    return child?.exitCode ?? null
  const closed = once(child, 'exit')
  child.kill(signal)
  const [code] = (await closed) as [number | null]
  return code
}
