import { coze } from './coze.ts'
import { dify } from './dify.ts'
import type { Emulator, EmulatorDeps } from './emulator.ts'
import { fastgpt } from './fastgpt.ts'
import { hiagent } from './hiagent.ts'
import { startHttpServer } from './http-server.ts'
import { openai } from './openai.ts'
import { Runs } from './runs.ts'
import { type Seen, SeenLog } from './seen.ts'

const EMULATORS = { fastgpt, hiagent, dify, coze, openai } as const satisfies Record<
  string,
  (deps: EmulatorDeps) => Emulator
>

export type SandboxPlatform = keyof typeof EMULATORS

/** The running emulators of all platforms. */
export interface Sandbox {
  readonly agents: Readonly<Record<SandboxPlatform, SandboxAgent>>
  /** Ends at once, open streams included. */
  close(): Promise<void>
}

export interface SandboxAgent {
  /** The `baseUrl` for the gateway's configuration. */
  readonly baseUrl: string
  readonly apiKey: string
  /** All keys, by the kind of app or the dialect that they select. `apiKey` is one of them. */
  readonly keys: Readonly<Record<string, string>>
  /** An existing app, bot or model id, if the platform has such ids. */
  readonly appId?: string
  /** The properties that an entry of the gateway's configuration needs besides address and key. */
  readonly options?: Readonly<Record<string, unknown>>
  readonly seen: Seen
}

export interface SandboxOptions {
  /** 127.0.0.1 by default. */
  readonly host?: string
  /** 0, the default, selects a free port. */
  readonly ports?: Readonly<Partial<Record<SandboxPlatform, number>>>
  /** The pause between two fragments of a reply, 15 by default; 0 sends them as fast as they are read. */
  readonly delayMs?: number
}

/**
 * Starts emulators of all platforms, which speak the real wire protocols on loopback ports. If one cannot
 * start, for example because its port is in use, closes the others and rejects with that error.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = '127.0.0.1', ports = {}, delayMs = 15 } = options
  const platforms = Object.keys(EMULATORS) as SandboxPlatform[]
  const starting = platforms.map(async (platform) => ({
    platform,
    ...(await startEmulator(EMULATORS[platform], { host, port: ports[platform] ?? 0, delayMs })),
  }))
  const started = await Promise.allSettled(starting)
  const running = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const close = async () => {
    await Promise.all(running.map((agent) => agent.close()))
  }
  const failed = started.find((result) => result.status === 'rejected')
  if (failed) {
    await close()
    throw failed.reason
  }
  const agents = Object.fromEntries(running.map(({ platform, agent }) => [platform, agent]))
  return { agents: agents as Record<SandboxPlatform, SandboxAgent>, close }
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
      ...{ baseUrl: server.origin + basePath, apiKey, keys, seen },
      ...(appId && { appId }),
      ...(options && { options }),
    },
    close() {
      runs.close()
      return server.close()
    },
  }
}
