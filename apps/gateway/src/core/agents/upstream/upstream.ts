import type { Agent, HelperCall, UpstreamRequest } from '#core/agents/adapter.ts'
import { isObject } from '#core/base/values/json.ts'
import { type Cards, createCards } from './cards.ts'
import { Exchange, type ExchangeLimits } from './exchange.ts'
import { createPools, type Lookups } from './pools.ts'
import { UpstreamError } from './upstream-error.ts'
import type { UpstreamPart, UpstreamReply } from './upstream-reply.ts'

export type OpenOptions = Pick<ExchangeLimits, 'announcesStream' | 'onHead'>

/** All outbound HTTP to platforms. */
export interface Upstream {
  /** What the servers of agents say of themselves. */
  readonly cards: Cards
  /** Sends a chat call. Failures, too, are reported by {@link UpstreamReply.next}. */
  open(agent: Agent, request: UpstreamRequest, options?: OpenOptions): UpstreamReply
  /**
   * Sends a helper call and reads its whole reply. Rejects with an {@link UpstreamError}, also when the signal aborts, which
   * closes the connection. The error says whether the request was begun.
   */
  help<Result>(
    agent: Agent,
    call: HelperCall<Result>,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<ReturnType<HelperCall<Result>['read']>>
  close(): Promise<void>
}

/** The same for the process, whose agents may change. */
export interface ChangeableUpstream extends Upstream {
  /** Closes the connections that none of these agents uses, each after what is in progress there. */
  keepFor(agents: readonly Pick<Agent, 'connection' | 'timeouts'>[]): void
}

/**
 * @param lookups - how names are looked up; by default as the system is configured
 * @param now - the clock for platforms that tell no time
 */
export function createUpstream(
  bounds: Pick<ExchangeLimits, 'replyBytesMax' | 'unsentBytesMax'>,
  lookups: Partial<Lookups> = {},
  now: () => Date = () => new Date(),
): ChangeableUpstream {
  const pools = createPools(lookups)
  const limits = { ...bounds, now }

  const help: Upstream['help'] = async (agent, call, timeoutMs, signal) => {
    const { withinMs = timeoutMs, replyBytesMax = limits.replyBytesMax, older } = call
    const send = ({ request }: typeof call) =>
      new Exchange(pools.of(agent), request, {
        ...limits,
        replyBytesMax: Math.min(replyBytesMax, limits.replyBytesMax),
        isWholeBody: true,
      })
    let reply = send(call)
    const cancel = (reason: 'agent_truncated' | 'agent_timeout') =>
      reply.cancel(new UpstreamError(reason, { wasBegun: reply.wasBegun }))
    const abort = () => cancel('agent_truncated')
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    const timer = setTimeout(() => cancel('agent_timeout'), Math.min(withinMs, timeoutMs))
    try {
      const part = bodyOf(await reply.next())
      if (older === undefined || !isUnknownPath(part)) return call.read(part.status, part.body, part.header)
      reply = send(older)
      if (signal?.aborted) abort()
      const olderPart = bodyOf(await reply.next())
      return older.read(olderPart.status, olderPart.body, olderPart.header)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }

  return {
    cards: createCards(help),
    help,
    open: (agent, request, options = {}) =>
      new Exchange(pools.of(agent), request, { ...limits, ...options, isWholeBody: false }),
    keepFor: pools.keepFor,
    close: () => pools.destroy(),
  }
}

type Body = Extract<UpstreamPart, { kind: 'body' }>

function bodyOf(part: UpstreamPart): Body {
  if (part.kind !== 'body') throw new UpstreamError('agent_truncated')
  return part
}

/** Whether there is nothing at a path. What an API itself says of something that does not exist is JSON. */
function isUnknownPath({ status, body }: Body): boolean {
  return (status === 404 || status === 405) && !isObject(body)
}
