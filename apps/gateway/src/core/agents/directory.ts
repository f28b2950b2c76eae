import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { handled } from '#core/handled.ts'
import { type Principal, requireKey } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import type { Agent, AgentFeatures, HelperCall } from './adapter.ts'
import { modelNames, usableAgents } from './usable.ts'

export type AgentStatus = 'available' | 'degraded' | 'unavailable'

/** What clients may know about an agent: never its address or credentials. */
export interface AgentRecord {
  readonly id: string
  readonly name: string
  readonly platform: string
  readonly description: string
  readonly status: AgentStatus
  /** Request fields that must not be empty. */
  readonly requires: readonly string[]
  readonly features: AgentFeatures
  readonly apps: readonly { readonly id: string; readonly name: string }[]
  readonly sandbox: boolean
}

export interface ModelRecord {
  readonly id: string
  readonly platform: string
}

export interface AgentDirectory {
  /**
   * Lists all agents, or for an API key with an allow-list only those that it names. Probes each platform.
   */
  list(caller: Principal | undefined): Promise<AgentRecord[]>
  /**
   * Lists the models of the OpenAI-compatible API: `agent` and `agent/app`. Makes no probe.
   *
   * @throws Problem if the caller did not authenticate with an API key
   */
  models(caller: Principal): readonly ModelRecord[]
}

const STATUS_CACHE_MS = 5_000
const PROBE_TIMEOUT_MS = 2_000

export function createAgentDirectory(deps: {
  agents: ReadonlyMap<string, Agent>
  upstream: Upstream
  runtime: Runtime
}): AgentDirectory {
  const statusOf = createStatusReader(deps)
  const usable = (caller: Principal | undefined) => {
    const allowed = caller?.via.kind === 'key' ? caller.via.allowedAgents : []
    return usableAgents(deps.agents, allowed)
  }
  return {
    list(caller) {
      return Promise.all(
        usable(caller).map(async ({ agent, apps }) => toRecord(agent, apps, await statusOf(agent))),
      )
    },
    models(caller) {
      requireKey(caller)
      return usable(caller).flatMap((each) =>
        modelNames(each).map((id) => ({ id, platform: each.agent.adapter.platform })),
      )
    },
  }
}

function toRecord(agent: Agent, apps: Agent['apps'], status: AgentStatus): AgentRecord {
  const { adapter } = agent
  return {
    id: agent.id,
    name: agent.name,
    platform: adapter.platform,
    description: agent.description,
    status,
    requires: adapter.requires(agent),
    features: adapter.features(agent),
    apps: apps.map(({ id, name }) => ({ id, name })),
    sandbox: agent.sandbox,
  }
}

/** Caches and shares probes, so that listings cost a platform at most one request per five seconds. */
function createStatusReader({ upstream, runtime }: { upstream: Upstream; runtime: Runtime }) {
  const cache = new Map<string, { status: Promise<AgentStatus>; untilMs: number }>()
  return (agent: Agent): Promise<AgentStatus> => {
    const cached = cache.get(agent.id)
    if (cached !== undefined && cached.untilMs > runtime.elapsedMs()) return cached.status
    const status = handled(probe(upstream, agent, agent.adapter.probe(agent)))
    cache.set(agent.id, { status, untilMs: runtime.elapsedMs() + STATUS_CACHE_MS })
    return status
  }
}

async function probe(
  upstream: Upstream,
  agent: Agent,
  call: HelperCall<'available' | 'degraded'>,
): Promise<AgentStatus> {
  try {
    const result = await upstream.help(agent, call, PROBE_TIMEOUT_MS)
    if ('ok' in result) return result.ok
    // The platform is up but rejects our credentials, which an operator has to correct.
    return result.failure.reason === 'agent_credentials' ? 'degraded' : 'unavailable'
  } catch {
    return 'unavailable'
  }
}
