import type { Deployment } from '#core/agents/served-agent.ts'
import { hasSeveralStates, type Residence } from '#core/calls/routing/residence.ts'
import type { Route } from '#core/calls/routing/route.ts'
import type { Call, UnroutedCall } from './call.ts'

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

/** The call as the deployment to which its route leads now gets it. */
export function deployedCall(call: UnroutedCall, route: Route, card: unknown): DeployedCall {
  const { deployment } = route
  return {
    ...call,
    agent: deployment.agent,
    app: call.app && route.app,
    deployment,
    card,
    isPlaced: call.agent.deployments.length > 1 && hasSeveralStates(call.agent),
    canContinue: (residence) => route.canContinue(residence),
  }
}
