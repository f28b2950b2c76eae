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
  readonly status: AgentStatus
  readonly statusSince: Date | null
  readonly statusReason: string | null
  readonly probeMs: number
  /** The worst state among the processes. */
  readonly breaker: BreakerState
  /** The calls in progress of all processes. */
  readonly callsInFlight: number
  /** The live processes that serve the deployment. */
  readonly processes: readonly DeploymentProcess[]
}

/** What a process knows of a deployment. */
export interface DeploymentProcess
  extends Pick<ProcessLoad, 'host' | 'pid' | 'version'>,
    Pick<DeploymentLoad, 'breaker' | 'servesOthers' | 'isUnasked'> {
  readonly instanceId: string
  readonly callsInFlight: number
  readonly openSince: Date | null
  readonly reason: string | null
}

/** Whether an agent can serve calls, and what keeps it from doing so. */
export interface AgentStanding {
  readonly status: AgentStatus
  /** Since when the agent is not `available`, as far as calls and probes have shown it. */
  readonly statusSince: Date | null
  /** Why it is not: a word of the table of errors; null if it is unknown. */
  readonly statusReason: string | null
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
      const { status, since, reason, ms } = await probe(agent)
      return {
        id,
        weight,
        priority,
        state,
        disabled: weight === 0,
        status,
        statusSince: timeOf(since),
        statusReason: reason ?? null,
        probeMs: ms,
        breaker: worstOf(known.map(({ breaker }) => breaker)),
        callsInFlight: known.reduce((sum, { callsInFlight }) => sum + callsInFlight, 0),
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
  deployments: readonly Omit<DeploymentRecord, 'weight' | 'priority' | 'state' | 'callsInFlight'>[],
  processes: readonly ProcessLoad[],
): AgentStanding {
  const answering = deployments.filter(({ status }) => status !== 'unavailable')
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
    ({ status, processes }) => status === 'available' && processes.every(sendsCalls),
  )
  if (isWhole && enabled.length > 0) return { status: 'available', ...NEVER }
  return { status: 'degraded', ...earliest(enabled.map(whyOf)) }
}

/**
 * Whether the process sends calls to the deployment, or would send the next one. A half-open breaker to which no call has come for a
 * minute says nothing against a platform that answers probes.
 */
function sendsCalls({ breaker, isUnasked }: DeploymentProcess): boolean {
  return breaker === 'closed' || (breaker === 'half_open' && isUnasked === true)
}

type Why = Omit<AgentStanding, 'status'>

const NEVER: Why = { statusSince: null, statusReason: null }

/** Since when a deployment does not serve all calls, and why: what was noticed first, by its probe or by calls of a process. */
function whyOf({ statusSince, statusReason, processes }: Why & Pick<DeploymentRecord, 'processes'>): Why {
  const open = processes.map(({ openSince, reason }) => ({ statusSince: openSince, statusReason: reason }))
  return earliest([{ statusSince, statusReason }, ...open])
}

function earliest(whys: readonly Why[]): Why {
  return inOrder(whys)[0] ?? NEVER
}

function latest(whys: readonly Why[]): Why {
  return inOrder(whys).at(-1) ?? NEVER
}

function inOrder(whys: readonly Why[]) {
  return whys
    .filter((why): why is Why & { statusSince: Date } => why.statusSince !== null)
    .sort((one, other) => one.statusSince.getTime() - other.statusSince.getTime())
}

function knownBy(
  { agents, instance: instanceId, ...process }: ProcessLoad,
  agentId: string,
  deploymentId: string,
): DeploymentProcess[] {
  const agent = agents.find((each) => each.agent === agentId)
  const found = agent?.deployments.find(({ id }) => id === deploymentId)
  if (found === undefined) return []
  const { id: _id, inFlight: callsInFlight, openSince, reason = null, ...load } = found
  return [{ instanceId, ...process, ...load, callsInFlight, openSince: timeOf(openSince), reason }]
}

function timeOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms)
}

function worstOf(states: readonly BreakerState[]): BreakerState {
  return BREAKER_STATES.findLast((state) => states.includes(state)) ?? 'closed'
}
