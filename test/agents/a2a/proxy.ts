import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type Answer, htmlPage } from '@trunkline/sandbox/src/serving/answer.ts'
import { readCommands } from './question.ts'
import { type StoredTurns, waitFirst } from './stored-turns.ts'
import type { WireRequest } from './wire-request.ts'

/** What a message meets between client and agent: a page in place of the reply, or a connection that is reset. */
type ProxyFault = 'reset' | Answer

const TITLES: Readonly<Record<number, string>> = {
  502: '502 Bad Gateway',
  503: '503 Service Temporarily Unavailable',
  504: '504 Gateway Time-out',
}

export function proxyFaultOf(query: string): ProxyFault | undefined {
  const { faults } = readCommands(query)
  const status = faults.number('sandbox:html', 502)
  if (faults.has('sandbox:html')) return htmlPage(status, TITLES[status] ?? String(status))
  if (faults.has('sandbox:html-200')) return htmlPage(200, 'Welcome')
  return faults.has('sandbox:reset-first') ? 'reset' : undefined
}

/** The agent has begun a run, of whose reply the client sees nothing. */
export async function playProxyFault(
  fault: ProxyFault,
  { query, contextId }: WireRequest,
  turns: StoredTurns,
  response: ServerResponse,
): Promise<Answer | undefined> {
  const { run } = turns.begin(randomUUID(), contextId || randomUUID(), query)
  try {
    await waitFirst(run, readCommands(query).faults)
    if (fault !== 'reset') return fault
    response.socket?.resetAndDestroy()
    run.halt('aborted')
  } catch (error) {
    if (!run.halted) throw error
  } finally {
    run.finish()
  }
  return undefined
}
