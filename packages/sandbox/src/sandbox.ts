import { coze } from './coze.ts'
import { dify } from './dify.ts'
import type { Emulator, Stage } from './emulator.ts'
import { fastgpt } from './fastgpt.ts'
import { hiagent } from './hiagent.ts'
import { startHttpServer } from './http-server.ts'
import { openai } from './openai.ts'
import { Runs } from './runs.ts'
import { type Seen, SeenLog } from './seen.ts'

const LOOK_ALIKES = { fastgpt, hiagent, dify, coze, openai } as const satisfies Record<
  string,
  (stage: Stage) => Emulator
>

export type SandboxPlatform = keyof typeof LOOK_ALIKES

/** Emulators of all platforms, on loopback ports, in their real wire protocols. */
export interface Sandbox {
  readonly agents: Readonly<Record<SandboxPlatform, SandboxAgent>>
  /** Ends at once, open streams included. */
  close(): Promise<void>
}

export interface SandboxAgent {
  /** As the gateway's configuration takes it. */
  readonly baseUrl: string
  readonly apiKey: string
  /** All keys, by what they open: kinds of apps, dialects. `apiKey` is one of them. */
  readonly keys: Readonly<Record<string, string>>
  /** A real app, bot or model id, where the platform has such. */
  readonly appId?: string
  readonly seen: Seen
}

export interface SandboxOptions {
  /** 127.0.0.1 by default. */
  readonly host?: string
  /** 0, the default, takes a free port. */
  readonly ports?: Readonly<Partial<Record<SandboxPlatform, number>>>
  /** Between two fragments of a reply: 15 by default; 0 sends them as fast as they are read. */
  readonly delayMs?: number
}

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = '127.0.0.1', ports = {}, delayMs = 15 } = options
  const platforms = Object.keys(LOOK_ALIKES) as SandboxPlatform[]
  const starting = platforms.map((platform) => startAgent(platform, host, ports[platform] ?? 0, delayMs))
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

interface Running {
  readonly platform: SandboxPlatform
  readonly agent: SandboxAgent
  close(): Promise<void>
}

async function startAgent(
  platform: SandboxPlatform,
  host: string,
  port: number,
  delayMs: number,
): Promise<Running> {
  const seen = new SeenLog()
  const runs = new Runs(seen)
  const emulator = LOOK_ALIKES[platform]({ seen, runs, delayMs })
  const { basePath, apiKey, keys, appId, routes, notFound } = emulator
  const server = await startHttpServer({ host, port, routes, notFound, seen })
  return {
    platform,
    agent: { baseUrl: server.origin + basePath, apiKey, keys, ...(appId && { appId }), seen },
    close() {
      runs.close()
      return server.close()
    },
  }
}
