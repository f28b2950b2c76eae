import type { Deployment } from '#core/agents/served-agent.ts'
import type { Residence } from '#core/calls/routing/residence.ts'
import type { Call } from './call.ts'

/** A call as one deployment of its agent gets it. */
export interface DeployedCall extends Call {
  readonly deployment: Deployment
  /** What the deployment's server says of itself, if its platform needs that. */
  readonly card: unknown
  /** Whether the conversations of the agent may live at different deployments. */
  readonly isPlaced: boolean
  /** Whether the deployment can continue a conversation that lives there. */
  canContinue(residence: Residence): boolean
}
