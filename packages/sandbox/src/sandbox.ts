import { coze } from './coze/coze.ts'
import { dify } from './dify/dify.ts'
import { fastgpt } from './fastgpt/fastgpt.ts'
import { hiagent } from './hiagent/hiagent.ts'
import { openai } from './openai/openai.ts'
import type { Emulator, EmulatorDeps } from './serving/emulator.ts'
import { type SandboxAgent, startEmulator } from './serving/start-emulator.ts'

/** A platform that has an emulator. */
export type SandboxPlatform = 'fastgpt' | 'hiagent' | 'dify' | 'coze' | 'openai'

const EMULATORS: Readonly<Record<SandboxPlatform, (deps: EmulatorDeps) => Emulator>> = {
  fastgpt,
  hiagent,
  dify,
  coze,
  openai,
}

/** The running emulators of all platforms. */
export interface Sandbox {
  /** The emulators by their platforms. */
  readonly agents: Readonly<Record<SandboxPlatform, SandboxAgent>>
  /** Ends at once, open streams included. */
  close(): Promise<void>
}

/** Options of {@link startSandbox}. */
export interface SandboxOptions {
  /** The address to listen on, 127.0.0.1 by default. */
  readonly host?: string
  /** The port of each emulator; 0, the default, selects a free one. */
  readonly ports?: Readonly<Partial<Record<SandboxPlatform, number>>>
  /** The pause between two fragments of a reply, 15 by default; 0 sends them as fast as they are read. */
  readonly delayMs?: number
}

/**
 * Starts emulators of all platforms, which speak the real wire protocols on loopback ports. If one cannot
 * start, for example because its port is in use, closes the others and rejects with that error.
 *
 * @example
 * ```ts
 * import { startSandbox } from '@trunkline/sandbox'
 *
 * const sandbox = await startSandbox({ delayMs: 0 })
 * const { baseUrl, apiKey } = sandbox.agents.openai
 * console.log(baseUrl, apiKey)
 * await sandbox.close()
 * ```
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
