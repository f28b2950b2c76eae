import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { Agent } from '../adapter.ts'
import type { Failure } from '../events.ts'
import { OpeningFailed } from '../upstream/opening-failed.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { UpstreamError } from '../upstream/upstream-error.ts'

export const AGENT_STATUSES = ['available', 'degraded', 'unavailable'] as const
export type AgentStatus = (typeof AGENT_STATUSES)[number]

/** What the probe of a platform said. */
export interface Probed {
  /** `degraded` if the platform answers but is busy or refuses the credentials of the gateway. */
  readonly status: AgentStatus
  /** How long the answer took, or how long it was waited for. */
  readonly ms: number
  /** Since when probes of this process have said so, in milliseconds since the epoch; absent if the platform is `available`. */
  readonly since?: number
  /** Why the platform is not `available`; absent if it answers but is busy. */
  readonly reason?: ErrorReason
}

type Answer = Pick<Probed, 'status' | 'reason'>

const CACHE_MS = 5_000
const PROBE_TIMEOUT_MS = 2_000

/** Probes platforms. All readers share a probe, so that they cost a platform at most one request per five seconds. */
export function createProbes({
  upstream,
  runtime,
}: {
  upstream: Pick<Upstream, 'help' | 'cards'>
  runtime: { elapsedMs(): number; now(): Date }
}): (agent: Agent) => Promise<Probed> {
  // By the agent itself, not by its id: one that was replaced under its id is another platform.
  const cache = new WeakMap<Agent, { probed: Promise<Probed>; untilMs: number }>()
  const troubles = new WeakMap<Agent, { status: AgentStatus; since: number }>()

  async function probe(agent: Agent): Promise<Probed> {
    const startedMs = runtime.elapsedMs()
    const answer = await answerOf(upstream, agent)
    const ms = Math.round(runtime.elapsedMs() - startedMs)
    return { ...answer, ms, ...sinceWhen(agent, answer) }
  }

  function sinceWhen(agent: Agent, { status }: Answer): Pick<Probed, 'since'> {
    if (status === 'available') {
      troubles.delete(agent)
      return {}
    }
    const before = troubles.get(agent)
    const since = before?.status === status ? before.since : runtime.now().getTime()
    troubles.set(agent, { status, since })
    return { since }
  }

  return (agent) => {
    const cached = cache.get(agent)
    if (cached !== undefined && cached.untilMs > runtime.elapsedMs()) return cached.probed
    const probed = markRejectionHandled(probe(agent))
    cache.set(agent, { probed, untilMs: runtime.elapsedMs() + CACHE_MS })
    return probed
  }
}

async function answerOf(upstream: Pick<Upstream, 'help' | 'cards'>, agent: Agent): Promise<Answer> {
  try {
    const card = await upstream.cards.of(agent, PROBE_TIMEOUT_MS)
    const result = await upstream.help(agent, agent.adapter.probe(agent, card), PROBE_TIMEOUT_MS)
    if ('ok' in result) return { status: result.ok }
    return statusOf(result.failure)
  } catch (error) {
    if (error instanceof OpeningFailed) return statusOf(error.failure)
    return {
      status: 'unavailable',
      reason: error instanceof UpstreamError ? error.reason : 'agent_unreachable',
    }
  }
}

/** A platform that is up but rejects our credentials is one that an operator has to correct. */
function statusOf({ reason }: Failure): Answer {
  return { status: reason === 'agent_credentials' ? 'degraded' : 'unavailable', reason }
}
