import { Agent as HttpAgent } from 'undici'
import type { HeaderReader, HelperCall, UpstreamEvent, UpstreamRequest } from './adapter.ts'
import type { Agent } from './agent.ts'
import { Exchange, type ExchangeLimits } from './exchange.ts'
import { UpstreamFault } from './upstream-fault.ts'

/** The only outbound HTTP: one connection pool an agent. */
export interface Upstream {
  /** Sends a chat call; everything that comes back is read through {@link UpstreamReply.next}. */
  open(agent: Agent, request: UpstreamRequest): UpstreamReply
  /** Sends a helper call and reads its whole reply. Rejects with an {@link UpstreamFault}. */
  help<Result>(
    agent: Agent,
    call: HelperCall<Result>,
    timeoutMs: number,
  ): Promise<ReturnType<HelperCall<Result>['read']>>
  close(): Promise<void>
}

export interface UpstreamReply {
  /** The platform's HTTP status; undefined as long as it has not answered. */
  readonly status: number | undefined
  /**
   * What came since the last call: events as soon as there are any, a whole body where the reply is no event stream,
   * or the end of the bytes. Rejects with an {@link UpstreamFault}, or with what {@link cancel} was given.
   */
  next(): Promise<UpstreamPart>
  /** A waiting {@link next} rejects with `cause`; the exchange goes on. */
  interrupt(cause: Error): void
  /** Closes the connection: what has come so far was all. */
  finish(): void
  /** Closes the connection; a waiting or later {@link next} rejects with `cause`. */
  cancel(cause: Error): void
}

export type UpstreamPart =
  | { readonly kind: 'events'; readonly events: readonly UpstreamEvent[] }
  | {
      readonly kind: 'body'
      readonly status: number
      /** Parsed where it is JSON, else the text. */
      readonly body: unknown
      readonly header: HeaderReader
    }
  | { readonly kind: 'end' }

export function createUpstream(limits: Omit<ExchangeLimits, 'isWholeBody'>): Upstream {
  const pools = new Map<string, HttpAgent>()

  const poolOf = ({ id, timeouts }: Agent): HttpAgent => {
    let pool = pools.get(id)
    if (pool === undefined) {
      // The gateway has timeouts of its own, which know pings from life; undici's would only race them.
      pool = new HttpAgent({ connect: { timeout: timeouts.connectMs }, headersTimeout: 0, bodyTimeout: 0 })
      pools.set(id, pool)
    }
    return pool
  }

  return {
    open: (agent, request) => new Exchange(poolOf(agent), request, { ...limits, isWholeBody: false }),
    async help(agent, call, timeoutMs) {
      const reply = new Exchange(poolOf(agent), call.request, { ...limits, isWholeBody: true })
      const timer = setTimeout(() => reply.cancel(new UpstreamFault('agent_timeout')), timeoutMs)
      try {
        const part = await reply.next()
        if (part.kind !== 'body') throw new UpstreamFault('agent_truncated')
        return call.read(part.status, part.body, part.header)
      } finally {
        clearTimeout(timer)
      }
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}
