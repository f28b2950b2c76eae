import { type ConversationFieldsFragment, ConversationMessagesDocument } from '../../../generated/graphql.ts'
import { gql } from '../../../session/gateway.ts'
import type { ChatsOfUser } from './chats-of-user.ts'
import { mergedTurns, turnsOf } from './said-turns.ts'

/** As many as the gateway gives at once. The page of the conversation has those before. */
const MESSAGES_MAX = 100

/**
 * Makes a chat of the playground that goes on with a conversation, or takes the one that this browser has. What was said elsewhere in
 * the meantime is read from the gateway.
 *
 * @returns the id of the chat
 */
export async function openConversation(
  chats: ChatsOfUser,
  conversation: ConversationFieldsFragment,
): Promise<string> {
  const { id, agentId: agent, appId: app, conversationId, endUser, name } = conversation
  const keepsConversation = conversation.agent?.features.conversation === true
  const [read] = await Promise.all([
    gql.query(ConversationMessagesDocument, { id, last: MESSAGES_MAX }),
    chats.loaded,
  ])
  const said = turnsOf(read.conversation?.messages?.nodes ?? [], conversation)
  const kept = chats.ofConversation(conversation)
  const session =
    (kept && (await chats.open(kept.id, keepsConversation))) ??
    chats.begin({ id, agent, app, conversationId, endUser, keepsConversation })
  session.takeStored(mergedTurns(session.turns, said), conversationId)
  session.save()
  if (kept === undefined && name !== null) chats.rename(id, name)
  return session.id
}
