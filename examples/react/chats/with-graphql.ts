import type { AnyVariables, OperationResult } from 'urql'
import { createChatClient } from '../urql/client.ts'
import type { Chats } from './chats.ts'
import {
  Ask,
  Conversations,
  DeleteConversation,
  Messages,
  RateCall,
  RenameConversation,
} from './documents.ts'

export function chatsWithGraphql(apiKey: string, agentId: string): Chats {
  const client = createChatClient(apiKey)
  // What others say and what chats add is not in a cache of documents.
  const fresh = { requestPolicy: 'network-only' } as const
  return {
    async list() {
      const { conversations } = dataOf(await client.query(Conversations, { agentId }, fresh))
      return (conversations?.nodes ?? []).map(({ id, conversationId, name }) => {
        return { id, conversation: conversationId, name: name ?? null }
      })
    },
    async messages(id, before) {
      const { conversation } = dataOf(await client.query(Messages, { id, before }, fresh))
      const { nodes = [], pageInfo } = conversation?.messages ?? {}
      const messages = nodes.map(({ messageId, role, text, callId = null, rating = null }) => ({
        id: messageId,
        role: role === 'USER' ? ('user' as const) : ('assistant' as const),
        text,
        callId,
        rating: rating === null ? null : rating === 'UP' ? ('up' as const) : ('down' as const),
      }))
      return { messages, before: pageInfo?.hasPreviousPage ? (pageInfo.startCursor ?? null) : null }
    },
    ask: (conversationId, query, show) =>
      new Promise((resolve, reject) => {
        let answer = ''
        let started: { conversation: string; callId: string | null } = { conversation: '', callId: null }
        const become = (text: string) => {
          answer = text
          show(answer)
        }
        client
          .subscription(Ask, { input: { agentId, query, conversationId } })
          .subscribe(({ data, error }) => {
            if (error !== undefined) reject(error)
            const item = data?.chat
            if (item?.__typename === 'ChatStarted') {
              started = { conversation: item.conversationId, callId: item.callId }
            }
            if (item?.__typename === 'ChatText') become(answer + item.text)
            if (item?.__typename === 'ChatTextReplaced') become(item.text)
            if (item?.__typename === 'ChatFinished') resolve(started)
          })
      }),
    async rename(id, name) {
      dataOf(await client.mutation(RenameConversation, { input: { id, name } }))
    },
    async remove(id) {
      dataOf(await client.mutation(DeleteConversation, { input: { id } }))
    },
    async rate(callId, rating) {
      const input = { callId, rating: rating === null ? null : rating === 'up' ? 'UP' : 'DOWN' } as const
      dataOf(await client.mutation(RateCall, { input }))
    },
  }
}

function dataOf<Data, Variables extends AnyVariables>(result: OperationResult<Data, Variables>): Data {
  if (result.data === undefined) throw result.error
  return result.data
}
