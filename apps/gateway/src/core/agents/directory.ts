import type { Runtime } from '#core/base/runtime.ts'
import { type Principal, requireKey } from '#core/requests/principal.ts'
import type { Adapter, Agent, AgentFeatures } from './adapter.ts'
import { modelNames, selectAllowedAgents } from './allowed-agents.ts'
import type { AgentCatalog } from './catalog.ts'
import {
  type AgentStanding,
  type DeploymentRecord,
  describeDeployments,
  standingOf,
} from './deployments/describe-deployments.ts'
import type { ProcessLoad, ProcessLoads } from './deployments/load.ts'
import { createProbes } from './deployments/probes.ts'
import type { ServedAgent } from './served-agent.ts'
import type { Upstream } from './upstream/upstream.ts'

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

export interface AgentRecord extends AgentInfo, AgentStanding {}

export interface ModelRecord {
  readonly id: string
  readonly platform: string
}

export interface AgentDirectory {
  /**
   * Lists all agents, or for an API key with an allow-list only those that it names. Probes each deployment.
   */
  list(caller: Principal | undefined): Promise<AgentRecord[]>
  /**
   * The status of an agent, since when and why, of those that {@link AgentDirectory.list} lists; undefined for others. Shares the probes of the
   * list, so that it costs a platform nothing more.
   */
  statusOf(caller: Principal | undefined, id: string): Promise<AgentStanding> | undefined
  /** The deployments of such an agent, with what every live process knows of them; undefined for other agents. Shares the probes. */
  deploymentsOf(caller: Principal | undefined, id: string): Promise<DeploymentRecord[]> | undefined
  /** The agents with these ids out of those that {@link AgentDirectory.list} lists. Makes no probe. */
  find(caller: Principal | undefined, ids: readonly string[]): AgentInfo[]
  /**
   * Lists the models of the OpenAI-compatible API: `agent` and `agent/app`. Makes no probe.
   *
   * @throws Problem if the caller did not authenticate with an API key
   */
  models(caller: Principal): readonly ModelRecord[]
}

export function createAgentDirectory(deps: {
  catalog: Pick<AgentCatalog, 'current'>
  upstream: Upstream
  runtime: Runtime
  /** What the live processes know of the deployments. */
  loads: ProcessLoads
}): AgentDirectory {
  const probe = createProbes(deps)
  const { loads } = deps
  const standing = async (agent: ServedAgent, processes: readonly ProcessLoad[]) =>
    standingOf(agent.id, await describeDeployments(agent, probe, processes), processes)
  const findAllowed = (caller: Principal | undefined, id: string) =>
    allowedAgents(caller).find(({ agent }) => agent.id === id)?.agent
  const allowedAgents = (caller: Principal | undefined) => {
    const allowed = caller?.via.kind === 'key' ? caller.via.allowedAgents : []
    return selectAllowedAgents(deps.catalog.current(), allowed)
  }
  return {
    async list(caller) {
      const processes = await loads.read()
      return Promise.all(
        allowedAgents(caller).map(async ({ agent, apps }) => ({
          ...toInfo(agent, apps),
          ...(await standing(agent, processes)),
        })),
      )
    },
    statusOf(caller, id) {
      const agent = findAllowed(caller, id)
      return agent && loads.read().then((processes) => standing(agent, processes))
    },
    deploymentsOf(caller, id) {
      const agent = findAllowed(caller, id)
      return agent && loads.read().then((processes) => describeDeployments(agent, probe, processes))
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
