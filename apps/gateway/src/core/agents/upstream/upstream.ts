import { Agent as HttpAgent } from 'undici'
import type { Agent, HelperCall, UpstreamRequest } from '#core/agents/adapter.ts'
import { Exchange, type ExchangeLimits } from './exchange.ts'
import { UpstreamError } from './upstream-error.ts'
import type { UpstreamReply } from './upstream-reply.ts'

/** All outbound HTTP to platforms, with one connection pool per agent. */
export interface Upstream {
  /** Sends a chat call. Failures, too, are reported by {@link UpstreamReply.next}. */
  open(agent: Agent, request: UpstreamRequest): UpstreamReply
  /**
   * Sends a helper call and reads its whole reply. Rejects with an {@link UpstreamError}, also when the signal aborts, which
   * closes the connection.
   */
  help<Result>(
    agent: Agent,
    call: HelperCall<Result>,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<ReturnType<HelperCall<Result>['read']>>
  close(): Promise<void>
}

export function createUpstream(limits: Omit<ExchangeLimits, 'isWholeBody'>): Upstream {
  const pools = new Map<string, HttpAgent>()

  const poolOf = ({ id, timeouts }: Agent): HttpAgent => {
    let pool = pools.get(id)
    if (pool === undefined) {
      // The gateway's own timeouts distinguish keep-alive pings from real data; undici's would compete with
      // them.
      pool = new HttpAgent({ connect: { timeout: timeouts.connectMs }, headersTimeout: 0, bodyTimeout: 0 })
      pools.set(id, pool)
    }
    return pool
  }

  return {
    open: (agent, request) => new Exchange(poolOf(agent), request, { ...limits, isWholeBody: false }),
    async help(agent, call, timeoutMs, signal) {
      const reply = new Exchange(poolOf(agent), call.request, { ...limits, isWholeBody: true })
      const abort = () => reply.cancel(new UpstreamError('agent_truncated'))
      if (signal?.aborted) abort()
      else signal?.addEventListener('abort', abort)
      const timer = setTimeout(() => reply.cancel(new UpstreamError('agent_timeout')), timeoutMs)
      try {
        const part = await reply.next()
        if (part.kind !== 'body') throw new UpstreamError('agent_truncated')
        return call.read(part.status, part.body, part.header)
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
      }
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}
