/** In the order from the best to the worst. */
export const BREAKER_STATES = ['closed', 'half_open', 'open'] as const
/** What one process thinks of a deployment: it serves calls, it is being tried by one call, or it is refused. */
export type BreakerState = (typeof BREAKER_STATES)[number]

/** What one process knows of a deployment. */
export interface DeploymentLoad {
  readonly id: string
  readonly breaker: BreakerState
  /** Present if a breaker that is not closed would let calls of others pass than of those who have called lately. */
  readonly servesOthers?: true
  /** Present if nobody has called within a minute, so that a breaker that is not closed says little of the deployment as it is now. */
  readonly isUnasked?: true
  /** Calls in progress. */
  readonly inFlight: number
  /** Since when the breaker is open, in milliseconds since the epoch. */
  readonly openSince?: number
  /** Why it is open: a word of the table of errors. */
  readonly reason?: string
}

/** What one process knows of an agent. */
export interface AgentLoad {
  readonly agent: string
  /** Calls in progress. */
  readonly inFlight: number
  /** Calls that wait for a slot. */
  readonly waiting: number
  readonly deployments: readonly DeploymentLoad[]
}

export interface LoadReader {
  /** What this process knows of the agents of the catalogue. */
  load(): readonly AgentLoad[]
}

/** What one of the live processes knows. */
export interface ProcessLoad {
  /** The id of its instance. */
  readonly instance: string
  /** Where it runs and its version; null for a process of a version that did not write them. */
  readonly host: string | null
  readonly pid: number | null
  readonly version: string | null
  /** An agent or a deployment is absent if the process did not say anything about it, such as a process of an earlier version. */
  readonly agents: readonly AgentLoad[]
}

export interface ProcessLoads {
  /**
   * What the live processes that share the database know; this one alone while the database does not answer. Of the others it
   * is as old as their last heartbeat and some seconds of a cache. Never rejects.
   */
  read(): Promise<readonly ProcessLoad[]>
}
