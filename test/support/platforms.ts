import { type SandboxAgent, type SandboxPlatform, type SecondOptions, startSandbox } from '@trunkline/sandbox'
import type { RunningEmulator } from '@trunkline/sandbox/src/serving/start-emulator.ts'
import { startA2aAgent } from '../agents/a2a/agent.ts'

/** Every platform: those that have an emulator, and those of which a real server runs. */
export type TestedPlatform = SandboxPlatform | 'a2a'

/** One server of each platform, which all play the commands of the sandbox. */
export interface TestedPlatforms {
  readonly agents: Readonly<Record<TestedPlatform, SandboxAgent>>
  /** Starts a further server of a platform, with the same keys. */
  startSecond(platform: TestedPlatform, options?: SecondOptions): Promise<SandboxAgent>
  close(): Promise<void>
}

/** Starts the emulators, and an A2A agent made with the SDK of its protocol, without pauses between their fragments. */
export async function startPlatforms(): Promise<TestedPlatforms> {
  const [sandbox, a2a] = await Promise.all([startSandbox({ delayMs: 0 }), startA2aAgent({ delayMs: 0 })])
  const running: RunningEmulator[] = [a2a]
  return {
    agents: { ...sandbox.agents, a2a: a2a.agent },
    async startSecond(platform, options = {}) {
      if (platform !== 'a2a') return sandbox.startSecond(platform, options)
      const { port = 0, sharesState = false } = options
      const second = await (sharesState ? a2a.startSecond(port) : startA2aAgent({ port, delayMs: 0 }))
      running.push(second)
      return second.agent
    },
    async close() {
      await Promise.all([sandbox.close(), ...running.map((server) => server.close())])
    },
  }
}
