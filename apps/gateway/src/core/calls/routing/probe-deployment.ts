import type { AgentApp, HelperCall } from '#core/agents/adapter.ts'
import { isPage } from '#core/agents/translate/failure.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { DeploymentHealth } from './deployment-health.ts'

const PROBE_WITHIN_MS = 2_000

interface ProbeDeps {
  readonly upstream: Pick<Upstream, 'help' | 'cards'>
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  readonly state: DeploymentHealth
  /** The app whose key has failed. */
  readonly app: AgentApp | undefined
  /** Called if the deployment answers, so that one call may try it. */
  readonly answered: () => void
}

/** Asks a deployment whose breaker is open whether it answers again. Any answer of the platform itself will do. */
export function probeDeployment({ upstream, runtime, state, app, answered }: ProbeDeps): void {
  const { breaker, deployment } = state
  const { agent } = deployment
  const apiKey = state.keyOf(app)
  const ask = async (): Promise<boolean> => {
    const card = await upstream.cards.of(agent, PROBE_WITHIN_MS)
    const { request } = agent.adapter.probe({ ...agent, ...(apiKey !== '' && { apiKey }) }, card)
    const read: HelperCall<boolean>['read'] = (status, body) => ({ ok: status < 500 && !isPage(body) })
    const result = await upstream.help(agent, { request, read }, PROBE_WITHIN_MS)
    return 'ok' in result && result.ok
  }
  breaker.probeBegan()
  ask().then(
    (isUp) => {
      breaker.probed(isUp, runtime.elapsedMs())
      if (isUp) answered()
    },
    () => breaker.probed(false, runtime.elapsedMs()),
  )
}
