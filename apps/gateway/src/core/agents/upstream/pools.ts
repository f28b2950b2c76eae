import type { LookupFunction } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { type Dispatcher, Agent as HttpAgent, Pool, ProxyAgent } from 'undici'
import type { Agent } from '#core/agents/adapter.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { createNameLookup } from './names/name-lookup.ts'
import { systemLookup } from './names/system-lookup.ts'

/** The look-ups of names, for agents with `names: dns` and for those with `names: system`. */
export interface Lookups {
  readonly dns: LookupFunction
  /** @param waitMs - how long the look-up may take, its waiting for others included */
  readonly system: (waitMs: number) => LookupFunction
}

export interface Pools {
  of(agent: PooledAgent): Dispatcher
  /** Closes the pools that none of these agents uses, each after what is in progress there. */
  keepFor(agents: readonly PooledAgent[]): void
  /** Closes all connections. */
  destroy(): Promise<void>
}

export type PooledAgent = Pick<Agent, 'connection' | 'timeouts'>

const HTTP = {
  // The gateway's own timeouts distinguish keep-alive pings from real data; undici's would compete with them.
  headersTimeout: 0,
  bodyTimeout: 0,
  // If the platform closes a connection while a request is sent, it is unknown whether the platform has the request. undici would
  // keep idle connections for ten minutes if the platform allows it, and proxies in between forget them earlier.
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 25_000,
  // Over HTTP/2, undici by itself repeats requests that a server may have begun. Over HTTP/1.1 it sends a POST once.
  allowH2: false,
}

/**
 * The connections to platforms. Agents, and thus deployments, whose connections are made in the same way share a pool, which
 * keeps those of each address apart. So an agent that replaces another one goes on with its connections, and there are as many
 * pools as there are different settings. A pool has no upper bound of connections, so none of the agents waits for another.
 */
export function createPools(lookups: Partial<Lookups> = {}): Pools {
  const { dns = createNameLookup(), system = systemLookup } = lookups
  /** Saves building the key for each call. */
  let byAgent = new WeakMap<PooledAgent, Dispatcher>()
  const bySettings = new Map<string, Dispatcher>()
  const closing = new Set<Dispatcher>()

  const keyOf = ({ timeouts, connection: { names, proxy, ca } }: PooledAgent) =>
    JSON.stringify([timeouts.connectMs, names, proxy, ca])

  const poolFor = (agent: PooledAgent): Dispatcher => {
    const key = keyOf(agent)
    const known = bySettings.get(key)
    if (known !== undefined) return known
    const lookup = agent.connection.names === 'system' ? system(agent.timeouts.connectMs) : dns
    const made = dispatcherFor(agent, lookup)
    bySettings.set(key, made)
    return made
  }

  return {
    of(agent) {
      let pool = byAgent.get(agent)
      if (pool === undefined) {
        pool = poolFor(agent)
        byAgent.set(agent, pool)
      }
      return pool
    },
    /** What is still in progress in a pool goes on to its end. A call that needs another request opens a new one. */
    keepFor(agents) {
      const kept = new Set(agents.map(keyOf))
      byAgent = new WeakMap()
      for (const [key, pool] of bySettings) {
        if (kept.has(key)) continue
        bySettings.delete(key)
        closing.add(pool)
        markRejectionHandled(pool.close().finally(() => closing.delete(pool)))
      }
    },
    async destroy() {
      await Promise.all([...bySettings.values(), ...closing].map((pool) => pool.destroy()))
    },
  }
}

function dispatcherFor({ connection, timeouts }: PooledAgent, lookup: LookupFunction): Dispatcher {
  const { proxy, ca } = connection
  // Made once, since reading the authorities takes longer than the rest of a handshake.
  const secureContext =
    ca === undefined ? undefined : createSecureContext({ ca: [...getCACertificates('default'), ca] })
  const connect = {
    timeout: timeouts.connectMs,
    lookup,
    allowH2: false,
    ...(secureContext !== undefined && { secureContext }),
  }
  if (proxy === undefined) return new HttpAgent({ ...HTTP, connect })
  return new ProxyAgent({
    ...HTTP,
    uri: proxy,
    proxyTls: connect,
    requestTls: connect,
    // undici passes only some of the options on to the pools that it makes for a proxy.
    factory: (origin, options) => new Pool(origin, { ...HTTP, ...options }),
    // Its requests are those for tunnels alone, whose answers are part of connecting.
    clientFactory: (origin, options) =>
      new Pool(origin, { ...HTTP, ...options, headersTimeout: timeouts.connectMs }),
  })
}
