import type { AgentApp } from '#core/agents/adapter.ts'
import { Breaker } from '#core/agents/deployments/breaker.ts'
import type { DeploymentLoad } from '#core/agents/deployments/load.ts'
import type { RefusedFields } from '#core/agents/deployments/refused-fields.ts'
import type { Deployment } from '#core/agents/served-agent.ts'
import { agentKey } from '#core/agents/translate/plain-requests.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'

/** What calls have shown of a server and its credentials, however the deployment there is configured. */
class Findings {
  readonly breaker: Breaker
  /** Undefined as long as none was refused. */
  refusedFields: RefusedFields | undefined
  /** Calls in progress. */
  inFlight = 0
  /** Whether the breaker was last reported as open. */
  wasOpen = false
  /** When and why the breaker has opened. */
  opened: { readonly at: number; readonly reason: ErrorReason } | undefined
  /** The app of the latest attempt that has failed, whose key a probe uses. */
  failedApp: AgentApp | undefined

  constructor(random: () => number) {
    this.breaker = new Breaker(random)
  }
}

/** A deployment, and what this process knows of it. */
export class DeploymentHealth {
  readonly deployment: Deployment
  readonly findings: Findings

  /** @param predecessor - the deployment of this id before the configuration was changed */
  constructor(deployment: Deployment, random: () => number, predecessor: DeploymentHealth | undefined) {
    this.deployment = deployment
    const isSameServer =
      predecessor !== undefined && serverOf(predecessor.deployment) === serverOf(deployment)
    this.findings = isSameServer ? predecessor.findings : new Findings(random)
  }

  get breaker(): Breaker {
    return this.findings.breaker
  }

  get isFull(): boolean {
    const { max } = this.deployment
    return max !== undefined && this.findings.inFlight >= max
  }

  load(nowMs: number): DeploymentLoad {
    const { deployment, breaker } = this
    const { inFlight, opened } = this.findings
    const { state, isUnasked } = breaker.stateAt(nowMs)
    const known = { id: deployment.id, breaker: state, inFlight }
    if (state === 'closed') return known
    return {
      ...known,
      ...(breaker.servesOthers && { servesOthers: true }),
      ...(isUnasked && { isUnasked }),
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

/** The address and the credentials of a deployment. */
function serverOf({ agent: { adapter, baseUrl, apiKey, connection, apps } }: Deployment): string {
  const keys = apps.map((app) => [app.id, app.apiKey])
  return JSON.stringify([adapter.platform, baseUrl, apiKey, connection, keys])
}
