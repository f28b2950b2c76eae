import { type Config, parseConfig } from '#config/load.ts'
import type { Agent } from '#core/agents/adapter.ts'
import type { ServedAgent } from '#core/agents/served-agent.ts'

export interface SandboxAgents {
  /** Entries of a configuration file that point at the emulators. */
  readonly entries: Readonly<Record<string, unknown>>
  close(): Promise<void>
}

/** The agents whose apps have nodes that ask the user. */
const PAUSING = new Set(['fastgpt', 'hiagent', 'dify-chatflow'])

function describe(id: string): string {
  const word = PAUSING.has(id) ? 'sandbox:interactive, with which it asks a question,' : 'sandbox:long'
  return `An emulator on this machine, which answers like this platform. Words such as ${word} in a query make it do more; one that it does not know is answered with those that it knows.`
}

/** Starts the emulators of the platforms, which serve as the agents of an installation without a configuration file. */
export async function startSandboxAgents(): Promise<SandboxAgents> {
  // Imported dynamically, so that an installation with agents of its own does not load it; from its sources, because the
  // package is built only when it is published.
  const { startSandbox } = await import('@trunkline/sandbox/src/index.ts')
  const sandbox = await startSandbox()
  const agents = Object.entries(sandbox.agents).flatMap(([platform, agent]) => {
    const own = { id: platform, platform, ...agent }
    // An app of its own, because only Dify's workflows can pause.
    const chatflow = { ...own, id: 'dify-chatflow', apiKey: agent.keys.chatflow2026 }
    return platform === 'dify' ? [own, chatflow] : [own]
  })
  const entries = agents.map(({ id, platform, baseUrl, apiKey, options }) => {
    // Their files are on this machine, as they are themselves.
    const filesUrl = new URL(baseUrl).origin
    return [id, { platform, baseUrl, apiKey, filesUrl, description: describe(id), ...options }]
  })
  return { entries: Object.fromEntries(entries), close: () => sandbox.close() }
}

/** The configuration with the emulators as its agents. */
export function withSandboxAgents(config: Config, entries: SandboxAgents['entries']): Config {
  const { agents } = parseConfig({ agents: entries }, {}, undefined, config.platforms)
  return { ...config, agents: agents.map(asEmulated) }
}

/** Says of the agent that it is an emulator, wherever it is looked at: calls see the agent of their deployment. */
function asEmulated(served: ServedAgent): ServedAgent {
  const emulated = <Each extends Agent>(agent: Each): Each => ({ ...agent, sandbox: true })
  const deployments = served.deployments.map((each) => ({ ...each, agent: emulated(each.agent) }))
  return { ...emulated(served), deployments }
}
