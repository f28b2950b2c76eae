import type { AgentApp } from '#core/agents/adapter.ts'
import type { AgentCatalog } from '#core/agents/catalog.ts'
import type { Caller } from '#core/agents/deployments/caller.ts'
import type { FairQueue } from '#core/agents/deployments/fair-queue.ts'
import type { AgentLoad, LoadReader } from '#core/agents/deployments/load.ts'
import { PROBE_EVERY_MS } from '#core/agents/deployments/open-period.ts'
import type { Failure } from '#core/agents/events.ts'
import type { ServedAgent } from '#core/agents/served-agent.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { AgentRoutes } from './agent-routes.ts'
import { probeDeployment } from './probe-deployment.ts'
import type { Residence } from './residence.ts'
import { Route, unavailable } from './route.ts'

/** A call that needs a deployment. */
export interface RouteRequest {
  readonly agent: ServedAgent
  readonly app: AgentApp | undefined
  readonly caller: Caller
  /** Where the conversation of the call lives; undefined if it may live anywhere. */
  readonly residence: Residence | undefined
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  /** Called before the call waits or is refused. Throws for a key that is known to be refused, so that it takes no place. */
  confirmKey(): void
}

/** The ways of all calls of this process to their platforms. */
export interface Routes extends LoadReader {
  /**
   * Chooses the deployment of a call and takes a slot there. Waits in the agent's queue if there is none; returns without a
   * promise if there is. The route must be left, whatever becomes of the call.
   *
   * @throws Problem `agent_unavailable` if all deployments are down, `agent_overloaded` if no slot becomes free in time,
   * `conversation_not_found` if no deployment has the conversation, `draining`
   */
  enter(request: RouteRequest): Route | Promise<Route>
  /**
   * Takes over, for the agents of the catalogue, what is known of those that they have replaced: the slots of running calls, the calls
   * that wait, and of each deployment whose address and credentials are the same its breaker and its rests.
   */
  takeOver(): void
  /** Refuses the calls that wait. */
  drain(): void
}

export interface RoutesObserver {
  /** A deployment does not answer calls any more, or again. */
  deploymentChanged(change: DeploymentChange): void
  /** Only the calls of one owner, or of one of its keys, are refused at a deployment, since they alone have failed there. */
  ownerRefused(refusal: OwnerRefusal): void
}

export interface OwnerRefusal {
  readonly agent: string
  readonly deployment: string
  readonly ownerId: string
  /** The failure of the attempt that led to the refusal. */
  readonly failure: Failure | undefined
}

export interface DeploymentChange {
  readonly agent: string
  readonly deployment: string
  readonly breaker: 'closed' | 'open'
  /** The failure of the attempt that changed the breaker. */
  readonly failure: Failure | undefined
}

export interface RoutesDeps {
  readonly catalog: Pick<AgentCatalog, 'current'>
  readonly upstream: Pick<Upstream, 'help' | 'cards'>
  readonly runtime: Pick<Runtime, 'elapsedMs' | 'now'>
  readonly observer: RoutesObserver
  /** Returns numbers from 0 up to 1; defaults to `Math.random`. */
  readonly random?: () => number
}

/** How long a refused caller should wait for a slot. */
const RETRY_AFTER_SECONDS = 1

export function createRoutes(deps: RoutesDeps): Routes {
  const { catalog, upstream, runtime, observer, random = Math.random } = deps
  // By the agent itself, not by its id: calls go on with the one that they began with.
  const known = new WeakMap<ServedAgent, AgentRoutes>()
  /** Those of the catalogue's agents, by id. */
  const latest = new Map<string, AgentRoutes>()
  /** Includes those of agents that have been replaced. */
  const queues = new Set<FairQueue>()
  let isDraining = false
  let probing: NodeJS.Timeout | undefined

  /** A breaker that nobody asks would stay open after its platform has recovered, and so would what is told of the agent. */
  function probeWhileOpen(): void {
    probing ??= setInterval(() => {
      const isOpen = [...catalog.current().values()].map((agent) => known.get(agent)?.probeOpen() === true)
      if (!isOpen.includes(true)) stopProbing()
    }, PROBE_EVERY_MS).unref()
  }

  function stopProbing(): void {
    clearInterval(probing)
    probing = undefined
  }

  function routesOf(agent: ServedAgent): AgentRoutes {
    let routes = known.get(agent)
    if (routes === undefined) {
      const created: AgentRoutes = new AgentRoutes(
        {
          agent,
          runtime,
          random,
          changed: (deployment, breaker, failure) => {
            if (breaker === 'open' && !isDraining) probeWhileOpen()
            observer.deploymentChanged({ agent: agent.id, deployment, breaker, failure })
          },
          ownerRefused: (deployment, ownerId, failure) =>
            observer.ownerRefused({ agent: agent.id, deployment, ownerId, failure }),
          probe: (state, app) =>
            probeDeployment({ upstream, runtime, state, app, answered: () => created.serveWaiting() }),
        },
        latest.get(agent.id),
      )
      routes = created
      known.set(agent, routes)
      // An agent that has been replaced already may still get its first call.
      if (catalog.current().get(agent.id) === agent || !latest.has(agent.id)) {
        latest.set(agent.id, routes)
        routes.holdBounds()
      }
    }
    return routes
  }

  /** A route, if the call can go on at once. */
  function tryEnter(routes: AgentRoutes, request: RouteRequest): Route | 'down' | 'full' {
    const state = routes.choose(request)
    if (state === 'down') return state
    if (state === 'full' || routes.held.bounds?.hasRoom(request.caller) === false) return 'full'
    return new Route(routes, state, request)
  }

  return {
    enter(request) {
      const routes = routesOf(request.agent)
      const entered = tryEnter(routes, request)
      if (typeof entered !== 'string') return entered
      return enterLater(routes, request, entered)
    },
    takeOver() {
      const agents = catalog.current()
      for (const id of latest.keys()) if (!agents.has(id)) latest.delete(id)
      // Waiting calls may go on now, where slots were added.
      for (const agent of agents.values()) routesOf(agent).serveWaiting()
    },
    drain() {
      isDraining = true
      stopProbing()
      for (const queue of queues) queue.drain()
    },
    load(): readonly AgentLoad[] {
      return [...catalog.current().values()].map((agent) => routesOf(agent).load())
    },
  }

  async function enterLater(
    routes: AgentRoutes,
    request: RouteRequest,
    noWay: 'down' | 'full',
  ): Promise<Route> {
    const { residence } = request
    if (routes.homes(request).length === 0) throw new Problem('conversation_not_found')
    request.confirmKey()
    if (noWay === 'down') throw unavailable(noWay, routes.retryAfterSeconds(request), residence)
    return waitForSlot(routes, request)
  }

  function waitForSlot(routes: AgentRoutes, request: RouteRequest): Promise<Route> {
    const { caller, signal, residence } = request
    const startedMs = runtime.elapsedMs()
    const { promise, resolve, reject } = Promise.withResolvers<Route>()
    const overloaded = () =>
      new Problem(isDraining ? 'draining' : 'agent_overloaded', { retryAfterSeconds: RETRY_AFTER_SECONDS })
    const waiter = {
      caller,
      /** Whether the call waits no longer: because it can go on, or because it never will. */
      tryStart(): boolean {
        const entered = tryEnter(routes, request)
        if (entered === 'full') return false
        if (entered === 'down') {
          reject(unavailable(entered, routes.retryAfterSeconds(request), residence))
        } else {
          entered.queuedMs = runtime.elapsedMs() - startedMs
          resolve(entered)
        }
        return true
      },
      shed: () => reject(overloaded()),
    }
    const giveUp = () => {
      routes.queue.remove(waiter)
      reject(overloaded())
    }
    if (isDraining || signal.aborted || !routes.queue.add(waiter)) return Promise.reject(overloaded())
    queues.add(routes.queue)
    const timer = setTimeout(giveUp, request.agent.concurrency?.waitMs ?? 0)
    signal.addEventListener('abort', giveUp, { once: true })
    return promise.finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', giveUp)
      if (routes.queue.size === 0) queues.delete(routes.queue)
    })
  }
}
