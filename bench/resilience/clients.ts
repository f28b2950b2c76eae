import { Agent, request } from 'undici'
import { chatBody } from '../../test/support/api.ts'
import type { GatewayTarget } from '../servers/gateway.ts'

/** How a chat was answered. */
export interface ChatAnswer {
  /** 0 if its client left. */
  readonly status: number
  readonly reason: string | undefined
  /** The text of the reply. */
  readonly text: string
  readonly retryAfterMs: number | undefined
  readonly ms: number
}

export interface Chat {
  readonly agent: string
  readonly query: string
  readonly conversation?: string
  readonly key?: string
  readonly signal?: AbortSignal
}

/** Chats through `/api/v1/chat`, in JSON. */
export class Clients {
  readonly #gateway: GatewayTarget
  readonly #dispatcher = new Agent({ connections: 2_000, headersTimeout: 120_000, bodyTimeout: 120_000 })

  constructor(gateway: GatewayTarget) {
    this.#gateway = gateway
  }

  async ask({ agent, query, conversation = '', key, signal }: Chat): Promise<ChatAnswer> {
    const { origin, headers } = this.#gateway
    const startedMs = performance.now()
    const given = { query, chat_id: conversation, conversation_id: conversation }
    try {
      const {
        statusCode,
        headers: head,
        body,
      } = await request(`${origin}/api/v1/chat`, {
        method: 'POST',
        headers: { ...headers, agent, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
        body: JSON.stringify(chatBody({ app_id: agent.startsWith('fastgpt') ? 'app-1' : '', ...given })),
        dispatcher: this.#dispatcher,
        ...(signal !== undefined && { signal }),
      })
      const reply = (await body.json()) as Reply
      const { 'retry-after': retryAfter } = head
      return {
        status: statusCode,
        reason: reply.reason,
        text: reply.choices?.[0]?.message.content ?? '',
        retryAfterMs: retryAfter === undefined ? undefined : Number(retryAfter) * 1_000,
        ms: performance.now() - startedMs,
      }
    } catch (error) {
      if (!signal?.aborted) throw error
      return {
        status: 0,
        reason: undefined,
        text: '',
        retryAfterMs: undefined,
        ms: performance.now() - startedMs,
      }
    }
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy()
  }
}

interface Reply {
  readonly reason?: string
  readonly choices?: readonly { readonly message: { readonly content: string } }[]
}
