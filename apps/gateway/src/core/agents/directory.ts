import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { handled } from '#core/handled.ts'
import { type Principal, requireKey } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import type { Agent, AgentFeatures, HelperCall } from './adapter.ts'
import { modelNames, usableAgents } from './usable.ts'

export type AgentStatus = 'available' | 'degraded' | 'unavailable'

/** What clients may know of an agent: never its address or credentials. */
export interface AgentRecord {
  readonly id: string
  readonly name: string
  readonly platform: string
  readonly description: string
  readonly status: AgentStatus
  /** Request fields that need a real value. */
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
  /** All agents; for an API key with an allow-list, those that it names. */
  list(caller: Principal | undefined): Promise<AgentRecord[]>
  /** What can be called on the OpenAI-compatible face, by name: `agent` and `agent/app`. Takes an API key. No probe is made. */
  models(caller: Principal): readonly ModelRecord[]
}

const REMEMBERED_MS = 5_000
const PROBE_WITHIN_MS = 2_000

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

/** Probes are shared and remembered: a listing never costs a platform more than one request in a few seconds. */
function createStatusReader({ upstream, runtime }: { upstream: Upstream; runtime: Runtime }) {
  const remembered = new Map<string, { status: Promise<AgentStatus>; untilMs: number }>()
  return (agent: Agent): Promise<AgentStatus> => {
    const known = remembered.get(agent.id)
    if (known !== undefined && known.untilMs > runtime.elapsedMs()) return known.status
    const status = handled(probe(upstream, agent, agent.adapter.probe(agent)))
    remembered.set(agent.id, { status, untilMs: runtime.elapsedMs() + REMEMBERED_MS })
    return status
  }
}

async function probe(
  upstream: Upstream,
  agent: Agent,
  call: HelperCall<'available' | 'degraded'>,
): Promise<AgentStatus> {
  try {
    const result = await upstream.help(agent, call, PROBE_WITHIN_MS)
    if ('ok' in result) return result.ok
    // It answers, but not to us: an operator has something to set right.
    return result.failure.reason === 'agent_credentials' ? 'degraded' : 'unavailable'
  } catch {
    return 'unavailable'
  }
}
