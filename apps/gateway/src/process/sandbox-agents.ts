import { type Config, parseConfig } from '#config/load.ts'
import { type Agent, PLATFORMS, type Platform } from '#core/agents/agent.ts'

export interface SandboxAgents {
  /** Entries of a configuration file that point at the emulators. */
  readonly entries: Readonly<Record<string, unknown>>
  close(): Promise<void>
}

/** Starts the platforms' emulators, which stand in for the agents of an installation that has none. */
export async function startSandboxAgents(): Promise<SandboxAgents> {
  // Loaded only here: an installation with agents of its own carries none of it.
  const { startSandbox } = await import('@trunkline/sandbox')
  const sandbox = await startSandbox()
  const entries = PLATFORMS.map((platform) => {
    const { baseUrl, apiKey, appId } = sandbox.agents[platform]
    return [platform, { platform, baseUrl, apiKey, ...EXTRAS[platform]?.(appId) }]
  })
  return { entries: Object.fromEntries(entries), close: () => sandbox.close() }
}

export function withSandboxAgents(config: Config, entries: SandboxAgents['entries']): Config {
  const { agents } = parseConfig({ agents: entries }, {})
  return { ...config, agents: agents.map((agent): Agent => ({ ...agent, sandbox: true })) }
}

const EXTRAS: { readonly [Name in Platform]?: (appId: string | undefined) => Record<string, unknown> } = {
  openai: () => ({ model: 'sandbox' }),
  coze: (botId) => ({ botId }),
}
