import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { markRejectionHandled } from '#core/async/mark-rejection-handled.ts'
import { type Principal, requireKey } from '#core/principal.ts'
import type { Runtime } from '#core/runtime.ts'
import type { Adapter, Agent, AgentFeatures, HelperCall } from './adapter.ts'
import { modelNames, selectAllowedAgents } from './allowed-agents.ts'
import type { AgentCatalog } from './catalog.ts'

export const AGENT_STATUSES = ['available', 'degraded', 'unavailable'] as const
export type AgentStatus = (typeof AGENT_STATUSES)[number]

/** What clients may know about an agent: never its address or credentials. */
export interface AgentInfo {
  readonly id: string
  readonly name: string
  readonly platform: string
  readonly description: string
  /** Request fields that must not be empty. */
  readonly requires: ReturnType<Adapter['requires']>
  readonly features: AgentFeatures
  readonly apps: readonly { readonly id: string; readonly name: string }[]
  readonly sandbox: boolean
}

export interface AgentRecord extends AgentInfo {
  readonly status: AgentStatus
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
   * The status of an agent of those that {@link AgentDirectory.list} lists; undefined for others. Shares the probes of the
   * list, so that it costs a platform nothing more.
   */
  statusOf(caller: Principal | undefined, id: string): Promise<AgentStatus> | undefined
  /** The agents with these ids out of those that {@link AgentDirectory.list} lists. Makes no probe. */
  find(caller: Principal | undefined, ids: readonly string[]): AgentInfo[]
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
  catalog: Pick<AgentCatalog, 'current'>
  upstream: Upstream
  runtime: Runtime
}): AgentDirectory {
  const statusOf = createStatusReader(deps)
  const allowedAgents = (caller: Principal | undefined) => {
    const allowed = caller?.via.kind === 'key' ? caller.via.allowedAgents : []
    return selectAllowedAgents(deps.catalog.current(), allowed)
  }
  return {
    list(caller) {
      return Promise.all(
        allowedAgents(caller).map(async ({ agent, apps }) => ({
          ...toInfo(agent, apps),
          status: await statusOf(agent),
        })),
      )
    },
    statusOf(caller, id) {
      const found = allowedAgents(caller).find(({ agent }) => agent.id === id)
      return found && statusOf(found.agent)
    },
    find: (caller, ids) =>
      allowedAgents(caller)
        .filter(({ agent }) => ids.includes(agent.id))
        .map(({ agent, apps }) => toInfo(agent, apps)),
    models(caller) {
      requireKey(caller)
      return allowedAgents(caller).flatMap((each) =>
        modelNames(each).map((id) => ({ id, platform: each.agent.adapter.platform })),
      )
    },
  }
}

function toInfo(agent: Agent, apps: Agent['apps']): AgentInfo {
  const { adapter } = agent
  return {
    id: agent.id,
    name: agent.name,
    platform: adapter.platform,
    description: agent.description,
    requires: adapter.requires(agent),
    features: adapter.features(agent),
    apps: apps.map(({ id, name }) => ({ id, name })),
    sandbox: agent.sandbox,
  }
}

/** Caches and shares probes, so that listings cost a platform at most one request per five seconds. */
function createStatusReader({ upstream, runtime }: { upstream: Upstream; runtime: Runtime }) {
  // By the agent itself, not by its id: one that was replaced under its id is another platform.
  const cache = new WeakMap<Agent, { status: Promise<AgentStatus>; untilMs: number }>()
  return (agent: Agent): Promise<AgentStatus> => {
    const cached = cache.get(agent)
    if (cached !== undefined && cached.untilMs > runtime.elapsedMs()) return cached.status
    const status = markRejectionHandled(probe(upstream, agent, agent.adapter.probe(agent)))
    cache.set(agent, { status, untilMs: runtime.elapsedMs() + STATUS_CACHE_MS })
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
