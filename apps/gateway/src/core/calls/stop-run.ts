import type { Agent } from '#core/agents/adapter.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { UpstreamError } from '#core/agents/upstream/upstream-error.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { PlatformReply } from './platform-reply.ts'

/** Decides when a request is sent. */
export type InTurn = <Result>(send: () => Promise<Result>) => Promise<Result>

/** How long to wait for the id that a stop request needs if the call ends before the platform has sent it. */
const WITHIN_MS = 5_000

/**
 * Stops the run of a reply at its platform, if it can be stopped, and closes the connection. Reads on until the platform has
 * sent the id that the request needs. Resolves when the stop request has been sent.
 *
 * @param inTurn - decides when the request is sent; the connection is closed at once
 */
export async function stopRun(
  upstream: Upstream,
  agent: Agent,
  { upstreamReply, state, call }: Pick<PlatformReply, 'upstreamReply' | 'state' | 'call'>,
  inTurn: InTurn,
): Promise<void> {
  const { adapter } = agent
  const gone = new UpstreamError('agent_truncated')
  const timer = setTimeout(() => upstreamReply.cancel(gone), WITHIN_MS)
  let stopping: Promise<unknown> | undefined
  try {
    while (adapter.stop !== undefined) {
      const stop = adapter.stop(call, state)
      if (stop !== undefined) {
        stopping = markRejectionHandled(inTurn(() => upstream.help(agent, stop, WITHIN_MS)))
        break
      }
      const part = await upstreamReply.next()
      if (part.kind !== 'events') break
      for (const event of part.events) adapter.translate(event, state)
    }
  } catch {
    // The reply has ended by itself, so there is nothing to stop.
  } finally {
    clearTimeout(timer)
    upstreamReply.cancel(gone)
  }
  await stopping?.catch(() => undefined)
}
