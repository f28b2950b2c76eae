import { Trunkline } from '@trunkline/sdk'
import type { Chats } from './chats.ts'

export function chatsWithSdk(apiKey: string, agent: string): Chats {
  // A page whose visitors bring their own key may hold it.
  const client = new Trunkline({ baseURL: location.origin, apiKey, dangerouslyAllowBrowser: true })
  return {
    async list() {
      const { items } = await client.conversations.list({ agent, limit: 20 })
      return items
    },
    async messages(id, before) {
      const page = await client.conversations.messages(id, { limit: 20, ...(before && { before }) })
      const messages = page.items.map(({ id, role, text, call_id: callId, rating }) => {
        return { id, role, text, callId, rating }
      })
      return { messages, before: page.before }
    },
    async ask(conversation, query, show) {
      const stream = client.chat.stream({ agent, chat_id: conversation ?? '', query })
      let answer = ''
      for await (const text of stream.textStream) {
        answer += text
        show(answer)
      }
      const reply = await stream.final()
      return { conversation: reply.conversationId, callId: reply.callId ?? null }
    },
    rename: async (id, name) => void (await client.conversations.rename(id, name)),
    remove: async (id) => void (await client.conversations.delete(id)),
    rate: async (callId, rating) => void (await client.conversations.rate(callId, { rating })),
  }
}
