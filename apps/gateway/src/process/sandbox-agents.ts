import { type Config, parseConfig } from '#config/load.ts'
import type { Agent } from '#core/agents/adapter.ts'

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
  const entries = Object.entries(sandbox.agents).map(([platform, { baseUrl, apiKey, options }]) => {
    return [platform, { platform, baseUrl, apiKey, ...options }]
  })
  return { entries: Object.fromEntries(entries), close: () => sandbox.close() }
}

export function withSandboxAgents(config: Config, entries: SandboxAgents['entries']): Config {
  const { agents } = parseConfig({ agents: entries }, {}, undefined, config.platforms)
  return { ...config, agents: agents.map((agent): Agent => ({ ...agent, sandbox: true })) }
}
