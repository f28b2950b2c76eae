import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import type { Deployment, ServedAgent } from '../served-agent.ts'
import { BREAKER_STATES, type BreakerState, type DeploymentLoad, type ProcessLoad } from './load.ts'
import type { AgentStatus, Probed } from './probes.ts'

/** A deployment as administrators see it: never its address or credentials. */
export interface DeploymentRecord {
  readonly id: string
  readonly weight: number
  readonly priority: number
  readonly state: string
  /** Whether it takes no new conversations and only serves those that it has. */
  readonly disabled: boolean
  /** What its probe said, by this process. */
  readonly probe: Probed
  /** The worst state among the processes. */
  readonly breaker: BreakerState
  /** The calls in progress of all processes. */
  readonly inFlight: number
  /** The live processes that serve the deployment. */
  readonly processes: readonly DeploymentProcess[]
}

/** What a process knows of a deployment. */
export interface DeploymentProcess extends Omit<ProcessLoad, 'agents'>, Omit<DeploymentLoad, 'id'> {}

/** Whether an agent can serve calls, and what keeps it from doing so. */
export interface AgentStanding {
  readonly status: AgentStatus
  /** Since when the agent is not `available`, in milliseconds since the epoch, as far as calls and probes have shown it. */
  readonly since?: number
  /** Why it is not: a word of the table of errors; absent if it is unknown. */
  readonly reason?: string
}

export type Probing = (agent: Deployment['agent']) => Promise<Probed>

/** The deployments of an agent, probed, with what the processes know of them. */
export function describeDeployments(
  { id: agentId, deployments }: ServedAgent,
  probe: Probing,
  processes: readonly ProcessLoad[],
): Promise<DeploymentRecord[]> {
  return Promise.all(
    deployments.map(async ({ id, agent, weight, priority, state }) => {
      const known = processes.flatMap((process) => knownBy(process, agentId, id))
      return {
        id,
        weight,
        priority,
        state,
        disabled: weight === 0,
        probe: await probe(agent),
        breaker: worstOf(known.map(({ breaker }) => breaker)),
        inFlight: known.reduce((sum, { inFlight }) => sum + inFlight, 0),
        processes: known,
      }
    }),
  )
}

/**
 * Whether an agent can serve calls, since when not, and why. It is `unavailable` only if no process has a way to any of its
 * deployments, for anybody, also to those that only serve the conversations that they have. A process that says nothing of a
 * deployment may have one.
 */
export function standingOf(
  agentId: string,
  deployments: readonly Pick<DeploymentRecord, 'id' | 'probe' | 'disabled' | 'breaker' | 'processes'>[],
  processes: readonly ProcessLoad[],
): AgentStanding {
  const answering = deployments.filter(({ probe }) => probe.status !== 'unavailable')
  const hasWay = (process: ProcessLoad) =>
    answering.some(({ id }) => {
      const [known] = knownBy(process, agentId, id)
      return known?.breaker !== 'open' || known.servesOthers === true
    })
  const isReached = processes.length === 0 ? answering.length > 0 : processes.some(hasWay)
  // It was unavailable only when its last deployment was.
  if (!isReached) return { status: 'unavailable', ...latest(deployments.map(whyOf)) }
  const enabled = deployments.filter(({ disabled }) => !disabled)
  const isWhole = enabled.every(
    ({ probe, processes }) => probe.status === 'available' && processes.every(sendsCalls),
  )
  if (isWhole && enabled.length > 0) return { status: 'available' }
  return { status: 'degraded', ...earliest(enabled.map(whyOf)) }
}

/**
 * Whether the process sends calls to the deployment, or would send the next one. A half-open breaker to which no call has come for a
 * minute says nothing against a platform that answers probes.
 */
function sendsCalls({ breaker, isUnasked }: DeploymentProcess): boolean {
  return breaker === 'closed' || (breaker === 'half_open' && isUnasked === true)
}

type Why = Pick<AgentStanding, 'since' | 'reason'>

/** Since when a deployment does not serve all calls, and why: what was noticed first, by its probe or by calls of a process. */
function whyOf({ probe, processes }: Pick<DeploymentRecord, 'probe' | 'processes'>): Why {
  const open = processes.map(({ openSince: since, reason }) => omitUndefined({ since, reason }))
  return earliest([omitUndefined({ since: probe.since, reason: probe.reason }), ...open])
}

function earliest(whys: readonly Why[]): Why {
  return inOrder(whys)[0] ?? {}
}

function latest(whys: readonly Why[]): Why {
  return inOrder(whys).at(-1) ?? {}
}

function inOrder(whys: readonly Why[]) {
  return whys
    .filter((why): why is Why & { since: number } => why.since !== undefined)
    .sort((one, other) => one.since - other.since)
}

function knownBy(
  { agents, ...process }: ProcessLoad,
  agentId: string,
  deploymentId: string,
): DeploymentProcess[] {
  const agent = agents.find((each) => each.agent === agentId)
  const found = agent?.deployments.find(({ id }) => id === deploymentId)
  if (found === undefined) return []
  const { id: _id, ...load } = found
  return [{ ...process, ...load }]
}

function worstOf(states: readonly BreakerState[]): BreakerState {
  return BREAKER_STATES.findLast((state) => states.includes(state)) ?? 'closed'
}
