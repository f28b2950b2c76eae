import { randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import { chatBody } from './api.ts'
import type { Platform } from './platform.ts'

/** The configuration of a gateway whose one agent is this platform. */
export function configOf(platform: Platform, more: Record<string, unknown> = {}): string {
  const agents = {
    counting: { platform: 'openai', baseUrl: platform.baseUrl, apiKey: 'none', model: 'counting' },
  }
  const many = { points: 1_000_000, windowSeconds: 60 }
  return JSON.stringify({
    agents,
    limits: { chat: many, login: many, loginAddress: many, refusedKeys: many },
    ...more,
  })
}

export interface Told {
  /** Request id and question in one. */
  readonly id: string
  /** Undefined where the connection broke. */
  readonly status: number | undefined
  readonly retryAfter: string | string[] | undefined
  readonly reason: string | undefined
  readonly ms: number
}

/** As many at once on each gateway as two busy cores answer in time; the others wait on this side. */
const dispatcher = new Agent({ connections: 50 })

/** Asks the counting agent once. */
export async function ask(url: string, key: string, id: string = randomUUID()): Promise<Told> {
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

/** How many were told what. */
export function tally(told: readonly Told[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, reason } of told) {
    const name = reason ?? String(status)
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
