import type { ListPromise } from '../api-promise.ts'
import type { Agent, AgentDeployment } from '../generated/wire.ts'
import type { CallOptions } from '../options.ts'
import { Resource } from './resource.ts'

/** The agents that can be called; reached as `client.agents`. */
export class Agents extends Resource {
  /**
   * Lists the agents; with an API key, those that it may use.
   *
   * @example
   * ```ts
   * const { items } = await client.agents.list()
   * for (const { id, name, status } of items) console.log(id, name, status)
   * ```
   */
  list(options?: CallOptions): ListPromise<Agent> {
    return this.transport.list('/agents', undefined, options)
  }

  /**
   * Lists the deployments of an agent, with their load as a sum and for each process of the gateway (administrators only).
   *
   * @example
   * ```ts
   * const { items } = await client.agents.deployments('dify')
   * for (const { id, status, breaker, calls_in_flight } of items) console.log(id, status, breaker, calls_in_flight)
   * ```
   */
  deployments(id: string, options?: CallOptions): ListPromise<AgentDeployment> {
    return this.transport.list('/agents/{id}/deployments', undefined, options, { id })
  }
}
