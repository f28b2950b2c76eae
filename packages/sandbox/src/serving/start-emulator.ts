import type { Emulator, EmulatorDeps } from './emulator.ts'
import { startHttpServer } from './http-server.ts'
import { Runs } from './runs.ts'
import { type Seen, SeenLog } from './seen.ts'

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
}

/** An emulator that accepts connections. */
export interface RunningEmulator {
  readonly agent: SandboxAgent
  /** Ends at once, open streams included. */
  close(): Promise<void>
}

/** Starts one emulator, which need not be one of the built-in ones. */
export async function startEmulator(
  create: (deps: EmulatorDeps) => Emulator,
  { host = '127.0.0.1', port = 0, delayMs = 15 }: { host?: string; port?: number; delayMs?: number } = {},
): Promise<RunningEmulator> {
  const seen = new SeenLog()
  const runs = new Runs(seen)
  const { basePath, apiKey, keys, appId, options, routes, notFound } = create({ seen, runs, delayMs })
  const server = await startHttpServer({ host, port, routes, notFound, seen })
  return {
    agent: {
      baseUrl: server.origin + basePath,
      apiKey,
      keys,
      seen,
      ...(appId && { appId }),
      ...(options && { options }),
    },
    close() {
      runs.close()
      return server.close()
    },
  }
}
