export type BreakerState = 'closed' | 'open' | 'half_open'

export interface DeploymentLoad {
  readonly id: string
  readonly breaker: BreakerState
  /** Calls in progress. */
  readonly inFlight: number
  /** Since when it is open, milliseconds since the epoch. */
  readonly openSince?: number
  readonly reason?: string
}

export interface AgentLoad {
  readonly agent: string
  readonly inFlight: number
  /** Calls that wait for a slot. */
  readonly waiting: number
  readonly deployments: readonly DeploymentLoad[]
}

export interface LoadReader {
  /** What this process knows of the agents of the catalogue. */
  load(): readonly AgentLoad[]
}
