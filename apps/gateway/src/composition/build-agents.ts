import { type ChangeableCatalog, createAgentCatalog } from '#core/agents/catalog.ts'
import { type ChangeableUpstream, createUpstream } from '#core/agents/upstream/upstream.ts'
import { createRoutes, type Routes } from '#core/calls/routing/routes.ts'
import type { Surroundings } from './surroundings.ts'

/** The agents, the connections to their platforms, and the ways to their deployments. */
export interface AgentParts {
  readonly catalog: ChangeableCatalog
  readonly upstream: ChangeableUpstream
  readonly routes: Routes
}

export function buildAgents({ config, runtime, metrics, log }: Surroundings): AgentParts {
  // The process of a command starts no emulators, but keys may still name their ids.
  const catalog = createAgentCatalog(config.agents, config.sandbox ? config.platforms.names : [])
  metrics.watchAgents(catalog)
  const upstream = createUpstream({
    replyBytesMax: config.chat.replyBytesMax,
    unsentBytesMax: config.chat.unsentBytesMax / 4,
  })
  const routes = createRoutes({
    catalog,
    upstream,
    runtime,
    observer: {
      deploymentChanged({ breaker, failure, ...which }) {
        if (breaker === 'closed') log.info(which, 'the deployment works again')
        else
          log.warn(
            { ...which, ...failure },
            'the deployment does not work: its calls go elsewhere, or are refused',
          )
      },
      ownerRefused({ failure, ...which }) {
        log.warn(
          { ...which, ...failure },
          'the deployment fails calls of one owner, which are not sent to it any longer',
        )
      },
    },
  })
  metrics.watchLoad(routes)
  return { catalog, upstream, routes }
}
