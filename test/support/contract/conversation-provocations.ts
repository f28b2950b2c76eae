import { chatRequest } from './chat-provocations.ts'
import type { ContractGateway, OperationRequest } from './contract-gateway.ts'
import { only, type Provocation } from './provocation.ts'

/** Operations on conversations, which an API key that may chat may call. */
export const FOR_CHAT_KEYS: ReadonlySet<string> = new Set([
  'listConversations',
  'getConversation',
  'listMessages',
  'renameConversation',
  'deleteConversation',
  'rateCall',
])

/** Operations that ask a platform beside a chat. What it answers is told as for chats, which provoke each of its failures. */
export const ASK_A_PLATFORM: ReadonlySet<string> = new Set(['listMessages', 'deleteConversation'])

/** A request about a conversation with one complete turn. */
export async function conversationRequest(gateway: ContractGateway): Promise<OperationRequest> {
  const chat = chatRequest(gateway)
  const { chat_id: conversation } = chat.body as { chat_id: string }
  await gateway.send('chat', chat)
  for (;;) {
    const { body } = await gateway.send('listConversations', {
      as: gateway.token,
      query: `conversation=${conversation}`,
    })
    const [found] = body.data.items as { id: string }[]
    if (found !== undefined) return { as: gateway.token, id: found.id }
  }
}

/** A request about a call whose answer can be rated. */
export async function ratedCallRequest(gateway: ContractGateway): Promise<OperationRequest> {
  const { headers } = await gateway.send('chat', chatRequest(gateway))
  return { as: gateway.token, id: headers['x-call-id'] ?? '', body: { rating: 'up' } }
}

/** An agent that is away, or is configured no more, has the conversation. */
async function moved(good: OperationRequest, gateway: ContractGateway, agent: string) {
  await gateway.query('UPDATE listed_conversations SET agent = $2 WHERE id = $1::uuid', [good.id, agent])
  return good
}

/** Another process is deleting the conversation. */
const DELETING = `
INSERT INTO conversation_generations (identity, deleting_until)
SELECT identity, now() + interval '1 minute' FROM listed_conversations WHERE id = $1::uuid`

export const CONVERSATION_PROVOCATIONS: readonly Provocation[] = [
  ...[...FOR_CHAT_KEYS].map((id) =>
    only(id, 403, 'permission_denied', 'a key with the permission upload alone', (good, gateway) => ({
      ...good,
      as: gateway.uploadKey,
    })),
  ),
  ...[...ASK_A_PLATFORM].map((id) => ({
    ...only(id, 502, 'agent_unreachable', 'a platform that is away', (good, gateway) =>
      moved(good, gateway, 'gone'),
    ),
    needsServer: true as const,
  })),
  {
    ...only('listMessages', 400, 'not_supported_by_agent', 'an agent that is no more', (good, gateway) =>
      moved(good, gateway, 'nobody'),
    ),
    needsServer: true,
  },
  {
    ...only(
      'deleteConversation',
      400,
      'not_supported_by_agent',
      'an agent that is no more',
      (good, gateway) => moved(good, gateway, 'nobody'),
    ),
    needsServer: true,
  },
  only('deleteConversation', 400, 'invalid_request', 'a path that is not valid text', (good) => ({
    ...good,
    id: '%ff',
  })),
  {
    ...only('deleteConversation', 409, 'conversation_busy', 'another deletion', async (good, gateway) => {
      await gateway.query(DELETING, [good.id])
      return good
    }),
    needsServer: true,
  },
  only('eraseEndUser', 403, 'role_denied', 'the end user of another user', (good, gateway) => ({
    ...good,
    as: gateway.userToken,
  })),
]
