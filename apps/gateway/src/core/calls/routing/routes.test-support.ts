import type { Agent, HelperCall } from '#core/agents/adapter.ts'
import { createAgent } from '#core/agents/create-agent.ts'
import type { Caller } from '#core/agents/deployments/caller.ts'
import { type Deployment, type ServedAgent, servedBySelf } from '#core/agents/served-agent.ts'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { CONFIGURED_CARDS } from '#core/agents/upstream/configured-cards.test-support.ts'
import {
  createRoutes,
  type DeploymentChange,
  type OwnerRefusal,
  type RouteRequest,
  type Routes,
} from './routes.ts'

/** A deployment of a test, as a configuration names it. */
export type DeploymentOptions = Partial<Omit<Deployment, 'agent'>> & {
  readonly id: string
  readonly agent?: Partial<Agent>
}

/** An agent with these deployments, each with an address of its own. */
export function agentWith(
  deployments: readonly DeploymentOptions[],
  more: Partial<ServedAgent> = {},
): ServedAgent {
  const platform = more.id ?? 'dify'
  const base = agentOf(platform, more)
  return {
    ...base,
    isListed: true,
    deployments: deployments.map(({ id, agent, ...own }) => ({
      weight: 1,
      priority: 0,
      state: id,
      sharesState: own.state !== undefined,
      formerly: [],
      max: undefined,
      ...own,
      id,
      agent: createAgent({ ...base, baseUrl: `https://${id}.example`, apiKey: `key-of-${id}`, ...agent }),
    })),
  }
}

/** Routes with a clock that the test sets. */
export interface TestRoutes {
  readonly routes: Routes
  readonly clock: { ms: number }
  /** The addresses that were probed. */
  readonly probes: string[]
  /** What a probe gets. */
  answer: { status: number; body: unknown } | undefined
  readonly changes: DeploymentChange[]
  readonly refusedOwners: OwnerRefusal[]
  /** Serves another agent of the same id, as a changed configuration does. */
  replace(next: ServedAgent): void
  enter(more?: Partial<RouteRequest>): ReturnType<Routes['enter']>
}

/** A call with the only key of an owner, or with another one. */
export function callerOf(owner: string, key = `key of ${owner}`): Caller {
  return { owner, key }
}

export function routesOf(first: ServedAgent = servedBySelf(agentOf('dify'))): TestRoutes {
  let agent = first
  const clock = { ms: 1_000 }
  const probes: string[] = []
  const changes: DeploymentChange[] = []
  const refusedOwners: OwnerRefusal[] = []
  const test: TestRoutes = {
    clock,
    probes,
    changes,
    refusedOwners,
    answer: { status: 200, body: {} },
    replace(next) {
      agent = next
      test.routes.takeOver()
    },
    routes: createRoutes({
      catalog: { current: () => new Map([[agent.id, agent]]) },
      runtime: { elapsedMs: () => clock.ms, now: () => new Date(clock.ms) },
      upstream: {
        cards: CONFIGURED_CARDS,
        async help<Result>(_agent: Agent, call: HelperCall<Result>) {
          probes.push(call.request.url)
          if (test.answer === undefined) throw new Error('no answer')
          const { status, body } = test.answer
          return call.read(status, body, () => undefined) as ReturnType<HelperCall<Result>['read']>
        },
      },
      observer: {
        deploymentChanged: (change) => changes.push(change),
        ownerRefused: (refusal) => refusedOwners.push(refusal),
      },
      random: seeded(1),
    }),
    enter: (more = {}) =>
      test.routes.enter({
        agent,
        app: undefined,
        caller: callerOf('owner-1'),
        residence: undefined,
        signal: new AbortController().signal,
        confirmKey: () => undefined,
        ...more,
      }),
  }
  return test
}

/** Random numbers that are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}
