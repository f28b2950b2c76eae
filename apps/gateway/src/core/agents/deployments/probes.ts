import { markRejectionHandled } from '#core/async/mark-rejection-handled.ts'
import type { Agent } from '../adapter.ts'
import type { Upstream } from '../upstream/upstream.ts'

export const AGENT_STATUSES = ['available', 'degraded', 'unavailable'] as const
export type AgentStatus = (typeof AGENT_STATUSES)[number]

/** What the probe of a platform said. */
export interface Probed {
  /** `degraded` if the platform answers but is busy or refuses the credentials of the gateway. */
  readonly status: AgentStatus
  /** How long the answer took, or how long it was waited for. */
  readonly ms: number
}

const CACHE_MS = 5_000
const PROBE_TIMEOUT_MS = 2_000

/** Probes platforms. All readers share a probe, so that they cost a platform at most one request per five seconds. */
export function createProbes({
  upstream,
  runtime,
}: {
  upstream: Pick<Upstream, 'help'>
  runtime: { elapsedMs(): number }
}): (agent: Agent) => Promise<Probed> {
  // By the agent itself, not by its id: one that was replaced under its id is another platform.
  const cache = new WeakMap<Agent, { probed: Promise<Probed>; untilMs: number }>()

  async function probe(agent: Agent): Promise<Probed> {
    const startedMs = runtime.elapsedMs()
    const status = await statusOf(upstream, agent)
    return { status, ms: Math.round(runtime.elapsedMs() - startedMs) }
  }

  return (agent) => {
    const cached = cache.get(agent)
    if (cached !== undefined && cached.untilMs > runtime.elapsedMs()) return cached.probed
    const probed = markRejectionHandled(probe(agent))
    cache.set(agent, { probed, untilMs: runtime.elapsedMs() + CACHE_MS })
    return probed
  }
}

async function statusOf(upstream: Pick<Upstream, 'help'>, agent: Agent): Promise<AgentStatus> {
  try {
    const result = await upstream.help(agent, agent.adapter.probe(agent), PROBE_TIMEOUT_MS)
    if ('ok' in result) return result.ok
    // The platform is up but rejects our credentials, which an operator has to correct.
    return result.failure.reason === 'agent_credentials' ? 'degraded' : 'unavailable'
  } catch {
    return 'unavailable'
  }
}
