import { json } from './answer.ts'
import type { Emulator, EmulatorDeps } from './emulator.ts'
import { startHttpServer } from './http-server.ts'
import type { Rejections, SandboxControl } from './outage.ts'
import { Runs } from './runs.ts'
import { type Seen, SeenAtSecond, SeenLog } from './seen.ts'

/** How to reach an emulator, and what it has received. */
export interface SandboxAgent {
  /** The `baseUrl` for the gateway's configuration. */
  readonly baseUrl: string
  /** A key that it accepts. */
  readonly apiKey: string
  /** All keys, by the kind of app or the dialect that they select. `apiKey` is one of them. */
  readonly keys: Readonly<Record<string, string>>
  /** An existing app, bot or model id, if the platform has such ids. */
  readonly appId?: string
  /** The properties that an entry of the gateway's configuration needs besides address and key. */
  readonly options?: Readonly<Record<string, unknown>>
  /** What the emulator has received; tests can wait for it. */
  readonly seen: Seen
  /** Makes it fail as a whole. */
  readonly control: SandboxControl
}

/** An emulator that accepts connections. */
export interface RunningEmulator {
  readonly agent: SandboxAgent
  /** Starts a second address of the same platform: conversations, runs and files are those of the first. */
  startSecond(port: number): Promise<RunningEmulator>
  /** Ends at once, open streams included. */
  close(): Promise<void>
}

export interface EmulatorOptions {
  readonly host?: string
  readonly port?: number
  readonly delayMs?: number
  /** How the platform rejects any request. */
  readonly rejections?: Rejections
}

const PLAIN: Rejections = {
  credentials: () => json(401, { message: 'Unauthorized' }),
  rateLimit: () => json(429, { message: 'Too Many Requests' }),
}

/** Starts one emulator, which need not be one of the built-in ones. */
export async function startEmulator(
  create: (deps: EmulatorDeps) => Emulator,
  { host = '127.0.0.1', port = 0, delayMs = 15, rejections = PLAIN }: EmulatorOptions = {},
): Promise<RunningEmulator> {
  const seen = new SeenLog()
  const runs = new Runs(seen)
  const { basePath, apiKey, keys, appId, options, routes, notFound } = create({ seen, runs, delayMs })

  async function serve(at: number, log: SeenLog): Promise<RunningEmulator> {
    const server = await startHttpServer({ host, port: at, routes, notFound, seen: log, rejections })
    return {
      agent: {
        baseUrl: server.origin + basePath,
        apiKey,
        keys,
        seen: log,
        control: server.control,
        ...(appId && { appId }),
        ...(options && { options }),
      },
      startSecond: (second) => serve(second, new SeenAtSecond(seen)),
      close() {
        runs.close()
        return server.close()
      },
    }
  }
  return serve(port, seen)
}
