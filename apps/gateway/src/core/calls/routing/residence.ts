import { type Deployment, MAIN_DEPLOYMENT, type ServedAgent } from '#core/agents/served-agent.ts'

/** Where a conversation lives: the deployment that has it, and the name of that deployment's state. */
export interface Residence {
  readonly deployment: string
  readonly state: string
}

/** Of a conversation from the time before its agent had several deployments. */
export const MAIN_RESIDENCE: Residence = { deployment: MAIN_DEPLOYMENT, state: MAIN_DEPLOYMENT }

/** Where a conversation lives that begins at this deployment. */
export function residenceAt({ id, state }: Deployment): Residence {
  return { deployment: id, state }
}

/** Whether the conversations of an agent may live in different places. */
export function hasSeveralStates({ deployments }: ServedAgent): boolean {
  const [first] = deployments
  return deployments.some(({ state }) => state !== first?.state)
}

/**
 * The deployments that can continue a conversation: the one that has it and those of the same state, or else the one that has
 * taken over its conversations. Empty if no deployment can any more.
 */
export function homesOf({ deployments }: ServedAgent, { deployment, state }: Residence): Deployment[] {
  const own = deployments.find(({ id }) => id === deployment)
  const homes = deployments.filter((each) => each === own || each.state === (own?.state ?? state))
  return homes.length > 0 ? homes : deployments.filter(({ formerly }) => formerly.includes(deployment))
}

/** Whether a deployment can continue the conversation. */
export function isHome(agent: ServedAgent, deployment: Deployment, residence: Residence): boolean {
  return residence.deployment === deployment.id || homesOf(agent, residence).includes(deployment)
}
