import { fail } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { type Principal, requireAdmin, requireKey } from '#core/requests/principal.ts'
import type { Agent, AgentFeatures } from './adapter.ts'
import { featuresOf } from './agent-features.ts'
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
  readonly requires: Agent['requires']
  readonly features: AgentFeatures
  readonly apps: readonly { readonly id: string; readonly name: string }[]
  readonly sandbox: boolean
}

export interface AgentRecord extends AgentInfo, AgentStanding {}

export interface ModelRecord {
  readonly id: string
  readonly platform: string
}

export type AgentDirectory = ReturnType<typeof createAgentDirectory>

export function createAgentDirectory(deps: {
  catalog: Pick<AgentCatalog, 'current'>
  upstream: Upstream
  runtime: Runtime
  /** What the live processes know of the deployments. */
  loads: ProcessLoads
}) {
  const probe = createProbes(deps)
  const { loads } = deps
  const standing = async (agent: ServedAgent, processes: readonly ProcessLoad[]) =>
    standingOf(agent.id, await describeDeployments(agent, probe, processes), processes)
  const findAllowed = (caller: Principal, id: string) =>
    allowedAgents(caller).find(({ agent }) => agent.id === id)?.agent
  const allowedAgents = (caller: Principal | undefined) => {
    const allowed = caller?.via.kind === 'key' ? caller.via.allowedAgents : []
    return selectAllowedAgents(deps.catalog.current(), allowed)
  }
  return {
    /**
     * Lists all agents, or for an API key with an allow-list only those that it names. Probes each deployment.
     */
    async list(caller: Principal | undefined): Promise<AgentRecord[]> {
      const processes = await loads.read()
      return Promise.all(
        allowedAgents(caller).map(async ({ agent, apps }) => ({
          ...toInfo(agent, apps),
          ...(await standing(agent, processes)),
        })),
      )
    },
    /**
     * The status of an agent, since when and why. Shares the probes of the list, so that it costs a platform nothing more.
     *
     * @throws Problem `agent_denied` for an agent that the caller may not use or that does not exist
     */
    async statusOf(caller: Principal, id: string): Promise<AgentStanding> {
      const agent = findAllowed(caller, id) ?? fail('agent_denied')
      return standing(agent, await loads.read())
    },
    /**
     * The deployments of an agent, for administrators, with what every live process knows of them. Shares the probes as well.
     *
     * @throws Problem `permission_denied`, `role_denied`, or `object_not_found` for an agent that the caller may not use or that
     * does not exist
     */
    async deploymentsOf(caller: Principal, id: string): Promise<DeploymentRecord[]> {
      requireAdmin(caller)
      const agent = findAllowed(caller, id) ?? fail('object_not_found', 'There is no agent with this id.')
      return describeDeployments(agent, probe, await loads.read())
    },
    /**
     * The agents with these ids that the caller may use, for what refers to them by id, such as a call. Makes no probe.
     */
    findMany: (caller: Principal, ids: readonly string[]): readonly AgentInfo[] =>
      allowedAgents(caller)
        .filter(({ agent }) => ids.includes(agent.id))
        .map(({ agent, apps }) => toInfo(agent, apps)),
    /**
     * Lists the models of the OpenAI-compatible API: `agent` and `agent/app`. Makes no probe.
     *
     * @throws Problem if the caller did not authenticate with an API key
     */
    models(caller: Principal): readonly ModelRecord[] {
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
    requires: agent.requires,
    features: featuresOf(agent),
    apps: apps.map(({ id, name }) => ({ id, name })),
    sandbox: agent.sandbox,
  }
}
