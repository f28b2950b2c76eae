import { coze } from './coze/coze.ts'
import { cozeErrors, cozeRefusal } from './coze/errors.ts'
import { dify } from './dify/dify.ts'
import { difyErrors } from './dify/errors.ts'
import { fastGptErrors, jsonError } from './fastgpt/errors.ts'
import { fastgpt } from './fastgpt/fastgpt.ts'
import { failure as hiAgentFailure } from './hiagent/errors.ts'
import { hiagent } from './hiagent/hiagent.ts'
import { openAiErrors, openAiRefusal } from './openai/errors.ts'
import { openai } from './openai/openai.ts'
import type { Emulator, EmulatorDeps } from './serving/emulator.ts'
import type { Rejections } from './serving/outage.ts'
import { type RunningEmulator, type SandboxAgent, startEmulator } from './serving/start-emulator.ts'

/** A platform that has an emulator. */
export type SandboxPlatform = 'fastgpt' | 'hiagent' | 'dify' | 'coze' | 'openai'

const EMULATORS: Readonly<Record<SandboxPlatform, (deps: EmulatorDeps) => Emulator>> = {
  fastgpt,
  hiagent,
  dify,
  coze,
  openai,
}

const REJECTIONS: Readonly<Record<SandboxPlatform, Rejections>> = {
  fastgpt: {
    credentials: () => jsonError(fastGptErrors.credentials),
    rateLimit: () => jsonError(fastGptErrors['rate-limit']),
  },
  hiagent: {
    credentials: (path) => hiAgentFailure(path, 'credentials'),
    rateLimit: (path) => hiAgentFailure(path, 'rate-limit'),
  },
  dify: { credentials: () => difyErrors.credentials, rateLimit: () => difyErrors['rate-limit'] },
  coze: {
    credentials: () => cozeRefusal('cloud', cozeErrors.cloud.credentials),
    rateLimit: () => cozeRefusal('cloud', cozeErrors.cloud['rate-limit']),
  },
  openai: {
    credentials: () => openAiRefusal('openai', openAiErrors.credentials),
    rateLimit: () => openAiRefusal('openai', openAiErrors['rate-limit']),
  },
}

/** The running emulators of all platforms. */
export interface Sandbox {
  /** The emulators by their platforms. */
  readonly agents: Readonly<Record<SandboxPlatform, SandboxAgent>>
  /**
   * Starts a further emulator of a platform, with the same keys: a second deployment.
   *
   * @example
   * ```ts
   * const second = await sandbox.startSecond('dify', { sharesState: true })
   * await sandbox.agents.dify.control.fail('refuse')
   * ```
   */
  startSecond(platform: SandboxPlatform, options?: SecondOptions): Promise<SandboxAgent>
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

/** Options of {@link Sandbox.startSecond}. */
export interface SecondOptions {
  /** Its port; 0, the default, selects a free one. */
  readonly port?: number
  /**
   * Whether it is another address of the first emulator, with its conversations, runs and files. By default it is an
   * installation of its own. What `seen` has of runs and stop calls is then the same for both; the requests are its own.
   */
  readonly sharesState?: boolean
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
  const start = (platform: SandboxPlatform, port = 0) =>
    startEmulator(EMULATORS[platform], { host, port, delayMs, rejections: REJECTIONS[platform] })
  const starting = platforms.map(async (platform) => {
    return [platform, await start(platform, ports[platform])] as const
  })
  const started = await Promise.allSettled(starting)
  const firsts = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const running = firsts.map(([, emulator]) => emulator)
  const close = async () => {
    await Promise.all(running.map((emulator) => emulator.close()))
  }
  const failed = started.find((result) => result.status === 'rejected')
  if (failed) {
    await close()
    throw failed.reason
  }
  const emulators = Object.fromEntries(firsts) as Record<SandboxPlatform, RunningEmulator>
  const agents = Object.fromEntries(firsts.map(([platform, { agent }]) => [platform, agent]))
  return {
    agents: agents as Record<SandboxPlatform, SandboxAgent>,
    async startSecond(platform, { port = 0, sharesState = false } = {}) {
      const second = await (sharesState ? emulators[platform].startSecond(port) : start(platform, port))
      running.push(second)
      return second.agent
    },
    close,
  }
}
