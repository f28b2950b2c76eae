import { randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import { chatBody } from './api.ts'
import type { Platform } from './platform.ts'
import { RAISED_LIMITS } from './raised-limits.ts'

/** The configuration of a gateway whose only agent, `counting`, is this platform. */
export function configOf(platform: Platform, more: Record<string, unknown> = {}): string {
  const agents = {
    counting: { platform: 'openai', baseUrl: platform.baseUrl, apiKey: 'none', model: 'counting' },
  }
  return JSON.stringify({ agents, limits: RAISED_LIMITS, ...more })
}

export interface ChatResult {
  /** Both the request id and the query of the call. */
  readonly id: string
  /** Undefined if the connection failed. */
  readonly status: number | undefined
  readonly retryAfter: string | string[] | undefined
  readonly reason: string | undefined
  readonly ms: number
}

/** Limits the concurrent calls per gateway to what two busy cores answer in time; further calls queue in the client. */
const dispatcher = new Agent({ connections: 50 })

/** Sends one chat call to the agent `counting`; connection errors are part of the result. */
export async function sendChat(url: string, key: string, id: string = randomUUID()): Promise<ChatResult> {
  const startedMs = performance.now()
  const ms = () => performance.now() - startedMs
  try {
    const { statusCode, headers, body } = await request(`${url}/api/v1/chat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        agent: 'counting',
        'content-type': 'application/json',
        'x-request-id': id,
      },
      body: JSON.stringify(chatBody({ query: id, chat_id: id })),
      dispatcher,
    })
    const { reason } = (await body.json()) as { reason?: string }
    return { id, status: statusCode, retryAfter: headers['retry-after'], reason, ms: ms() }
  } catch {
    return { id, status: undefined, retryAfter: undefined, reason: undefined, ms: ms() }
  }
}

/** Counts results by reason, or by status where there is none. */
export function countByReason(results: readonly ChatResult[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, reason } of results) {
    const name = reason ?? String(status)
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
