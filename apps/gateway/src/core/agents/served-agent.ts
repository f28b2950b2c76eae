import type { Agent } from './adapter.ts'

/** An agent as the gateway serves it: an entry of the configuration, and the deployments that answer for it. */
export interface ServedAgent extends Agent {
  /** At least one. An entry that lists none has one with the id `main`, made of the entry itself. */
  readonly deployments: readonly Deployment[]
  /** Whether the entry lists them, and may so have listed others before. */
  readonly isListed: boolean
  readonly retry: Retry
  /** Whether calls are refused while a deployment fails, instead of being sent there. */
  readonly hasBreaker: boolean
  /** Undefined where the calls in progress are not limited. */
  readonly concurrency: Concurrency | undefined
}

/** One platform that answers for an agent, or one key of it. */
export interface Deployment {
  /** Unique within its agent. */
  readonly id: string
  /** The agent as this deployment serves it: with the address, keys, models and time limits of the deployment. */
  readonly agent: Agent
  /** Its share of new conversations among the deployments of its priority; 0 if it only serves those that it has. */
  readonly weight: number
  /** The lowest that can serve a call is chosen. */
  readonly priority: number
  /**
   * The name of what the platform stores for it: conversations, files and runs may move between deployments of the same state.
   * Its own id where the configuration names none.
   */
  readonly state: string
  /** Whether the configuration names the state, which is then known to be shared. */
  readonly sharesState: boolean
  /** Ids of deployments whose conversations this one has taken over. */
  readonly formerly: readonly string[]
  /** The most calls in progress in one process; undefined for no limit. */
  readonly max: number | undefined
}

export interface Retry {
  /** The most attempts of one call, the first included. */
  readonly attempts: number
  /** How long an attempt may take to its first byte if another may follow it; undefined for an equal part of the agent's time. */
  readonly firstByteMs: number | undefined
}

/** Limits on the calls of an agent in one process. */
export interface Concurrency {
  /** The most calls in progress; undefined for no limit. */
  readonly max: number | undefined
  /** The most calls in progress of one user, with all of its API keys; undefined for no limit. */
  readonly perOwner: number | undefined
  /** The most calls in progress of one API key; undefined for no limit. */
  readonly perKey: number | undefined
  /** The most calls that wait. */
  readonly queue: number
  readonly waitMs: number
}

/** The deployment of an entry that lists none, and of conversations from the time before it listed any. */
export const MAIN_DEPLOYMENT = 'main'

/** The agent whose only deployment is made of its entry. */
export function servedBySelf(agent: Agent): ServedAgent {
  const main: Deployment = {
    id: MAIN_DEPLOYMENT,
    agent,
    weight: 1,
    priority: 0,
    state: MAIN_DEPLOYMENT,
    sharesState: false,
    formerly: [],
    max: undefined,
  }
  return {
    ...agent,
    deployments: [main],
    isListed: false,
    retry: { attempts: 2, firstByteMs: undefined },
    hasBreaker: true,
    concurrency: undefined,
  }
}
