import type { AgentApp } from '#core/agents/adapter.ts'
import { Breaker } from '#core/agents/deployments/breaker.ts'
import type { DeploymentLoad } from '#core/agents/deployments/load.ts'
import { RefusedFields } from '#core/agents/deployments/refused-fields.ts'
import type { Deployment } from '#core/agents/served-agent.ts'
import { agentKey } from '#core/agents/translate/agent-key.ts'
import type { ErrorReason } from '#core/errors/errors.ts'

/** What this process knows of a deployment. */
export class DeploymentHealth {
  readonly deployment: Deployment
  readonly breaker: Breaker
  readonly refusedFields = new RefusedFields()
  /** Calls in progress. */
  inFlight = 0
  /** Whether the breaker was last reported as open. */
  wasOpen = false
  /** When and why the breaker has opened. */
  opened: { readonly at: number; readonly reason: ErrorReason } | undefined
  /** The app of the latest attempt that has failed, whose key a probe uses. */
  failedApp: AgentApp | undefined

  constructor(deployment: Deployment, random: () => number) {
    this.deployment = deployment
    this.breaker = new Breaker(random)
  }

  get isFull(): boolean {
    const { max } = this.deployment
    return max !== undefined && this.inFlight >= max
  }

  load(): DeploymentLoad {
    const { deployment, breaker, inFlight, opened } = this
    const { state } = breaker
    const known = { id: deployment.id, breaker: state, inFlight }
    if (state === 'closed') return known
    return {
      ...known,
      ...(breaker.servesOthers && { servesOthers: true }),
      ...(opened !== undefined && { openSince: opened.at, reason: opened.reason }),
    }
  }

  /** The app as this deployment has it, with its keys and models. */
  appOf(app: AgentApp | undefined): AgentApp | undefined {
    return app === undefined ? undefined : (this.deployment.agent.apps.find(({ id }) => id === app.id) ?? app)
  }

  /** The credential with which calls of the app are sent. */
  keyOf(app: AgentApp | undefined): string {
    return agentKey(this.deployment.agent, this.appOf(app)) ?? ''
  }
}
