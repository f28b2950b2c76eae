import { type SandboxAgent, type SandboxPlatform, type SecondOptions, startSandbox } from '@trunkline/sandbox'
import type { RunningEmulator } from '@trunkline/sandbox/src/serving/start-emulator.ts'
import { startA2aAgent } from '../agents/a2a/agent.ts'
import { startLangGraphAgent } from '../agents/langgraph/agent.ts'

/** The platforms whose servers `test` installs: those that have an emulator, and A2A. */
export type EssentialPlatform = SandboxPlatform | 'a2a'
/** Every platform, also those whose real servers `test:rest` alone installs. */
export type TestedPlatform = EssentialPlatform | 'langgraph'

/** One server of each platform, which all play the commands of the sandbox, without pauses between their fragments. */
export interface TestedPlatforms<Platform extends TestedPlatform = TestedPlatform> {
  readonly agents: Readonly<Record<Platform, SandboxAgent>>
  /** Starts a further server of a platform, with the same keys. */
  startSecond(platform: Platform, options?: SecondOptions): Promise<SandboxAgent>
  close(): Promise<void>
}

/** The real servers, which are started one by one. */
const REAL = { a2a: startA2aAgent, langgraph: startLangGraphAgent } as const
type RealPlatform = keyof typeof REAL

/** Starts the emulators, and an A2A agent made with the SDK of its protocol. */
export function startEssentialPlatforms(): Promise<TestedPlatforms<EssentialPlatform>> {
  return start(['a2a'])
}

/** Starts LangGraph's server as well. */
export function startPlatforms(): Promise<TestedPlatforms> {
  return start(['a2a', 'langgraph'])
}

async function start<Real extends RealPlatform>(
  names: readonly Real[],
): Promise<TestedPlatforms<SandboxPlatform | Real>> {
  const sandbox = await startSandbox({ delayMs: 0 })
  const servers = await Promise.all(
    names.map(async (name) => [name, await REAL[name]({ delayMs: 0 })] as const),
  )
  const running: RunningEmulator[] = servers.map(([, server]) => server)
  const real = Object.fromEntries(servers.map(([name, { agent }]) => [name, agent])) as Record<
    Real,
    SandboxAgent
  >
  const isReal = (platform: SandboxPlatform | Real): platform is Real => Object.hasOwn(REAL, platform)
  return {
    agents: { ...sandbox.agents, ...real },
    async startSecond(platform, options = {}) {
      if (!isReal(platform)) return sandbox.startSecond(platform as SandboxPlatform, options)
      const { port = 0, sharesState = false } = options
      const first = servers.find(([name]) => name === platform)?.[1]
      const second = await (sharesState ? first?.startSecond(port) : REAL[platform]({ port, delayMs: 0 }))
      if (second === undefined) throw new Error(`${platform} is not running`)
      running.push(second)
      return second.agent
    },
    async close() {
      await Promise.all([sandbox.close(), ...running.map((server) => server.close())])
    },
  }
}
