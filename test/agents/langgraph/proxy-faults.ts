import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Faults } from '@trunkline/sandbox/src/replies/faults.ts'
import { type Answer, htmlPage } from '@trunkline/sandbox/src/serving/answer.ts'
import { SERVER_ERROR } from './refusals.ts'
import { framesOf } from './relay.ts'

const TITLES: Readonly<Record<number, string>> = {
  502: '502 Bad Gateway',
  503: '503 Service Temporarily Unavailable',
  504: '504 Gateway Time-out',
}

/**
 * Plays what a client meets when its run has begun and before the first byte. Returns an answer in place of LangGraph's, or
 * undefined if that may come, unless the client has left.
 */
export async function playProxyFault(
  { has, number }: Faults,
  reply: IncomingMessage,
  response: ServerResponse,
  left: AbortSignal,
): Promise<Answer | undefined> {
  if (has('sandbox:slow-first')) await sleep(number('sandbox:slow-first', 3_000), undefined, { signal: left })
  if (has('sandbox:html')) {
    const status = number('sandbox:html', 502)
    await begun(reply)
    return htmlPage(status, TITLES[status] ?? String(status))
  }
  if (has('sandbox:html-200')) return begun(reply).then(() => htmlPage(200, 'Welcome'))
  if (has('sandbox:error-stored')) return begun(reply).then(() => SERVER_ERROR)
  if (has('sandbox:reset-first')) return begun(reply).then(() => void response.socket?.resetAndDestroy())
  // LangGraph sends no heartbeats.
  const isStuck = has('sandbox:hang') || has('sandbox:pings')
  if (isStuck && !left.aborted) await once(left, 'abort')
  left.throwIfAborted()
  return undefined
}

/** Waits until the graph works. A run that is cancelled while it waits for its turn leaves nothing in the thread. */
async function begun(reply: IncomingMessage): Promise<void> {
  for await (const frame of framesOf(reply)) if (!frame.startsWith('event: metadata')) return
}
