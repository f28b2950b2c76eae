import { TrunklineError } from '@trunkline/sdk'
import { ChatConversationDocument, ConversationMessagesDocument } from '../../../generated/graphql.ts'
import { gql, sessionKeys, sessions } from '../../../session/gateway.ts'
import { type ChatPlace, ChatSession } from './chat-session.ts'
import { PlaygroundKey } from './playground-key.ts'
import { pauseOf, turnsOf } from './said-turns.ts'
import type { Turn } from './turn.ts'

/** As many as the gateway gives at once. The page of the conversation has those before. */
const MESSAGES_MAX = 100

const keys = new Map<string, PlaygroundKey>()
/** The chats whose replies are being read, also while other pages are shown. */
const running = new Map<string, ChatSession>()

// Where consoles before this one kept what was said.
indexedDB.deleteDatabase('trunkline.chats')

sessions.onEnd(() => {
  for (const session of running.values()) session.close()
  running.clear()
  keys.clear()
})

export function keyOf(agent: string): PlaygroundKey {
  const key =
    keys.get(agent) ??
    new PlaygroundKey({
      baseURL: location.origin,
      agent,
      keys: sessionKeys,
      accessToken: () => sessions.current?.accessToken,
    })
  keys.set(agent, key)
  return key
}

/** A chat to which nothing is known that was said before. */
export function beginChat(place: ChatPlace, turns: readonly Turn[] = []): ChatSession {
  const name = nameOf(place)
  const session: ChatSession = new ChatSession({
    baseURL: location.origin,
    place,
    key: keyOf(place.agent),
    turns,
    keep(turn) {
      if (session.isRunning) running.set(name, session)
      else running.delete(name)
      sessions.setItem(name, turn && JSON.stringify({ ...turn, details: [] }))
    },
  })
  return session
}

/** A chat with what was said in it, as the gateway reads it at this moment. */
export async function openChat(place: ChatPlace, ownerId: string): Promise<ChatSession> {
  const name = nameOf(place)
  const open = running.get(name)
  if (open !== undefined) return open
  const { agent: agentId, app: appId, conversationId, endUser } = place
  const filter = { ownerId, agentId, appId, conversationId, endUser }
  const { conversations } = await gql.query(ChatConversationDocument, { filter })
  const [conversation] = conversations?.nodes ?? []
  const messages = conversation === undefined ? [] : await messagesOf(conversation.id)
  const pause = conversation?.pause ?? undefined
  return beginChat(place, turnsOf(messages, pause && pauseOf(pause), unfinishedTurn(name)))
}

async function messagesOf(id: string) {
  try {
    const { conversation } = await gql.query(ConversationMessagesDocument, { id, last: MESSAGES_MAX })
    return conversation?.messages?.nodes ?? []
  } catch (error) {
    // Some platforms show no messages. The chat goes on nevertheless.
    if (error instanceof TrunklineError && error.reason === 'not_supported_by_agent') return []
    throw error
  }
}

/** The turn whose reply this tab was reading when the page was left. */
function unfinishedTurn(name: string): Turn | undefined {
  const kept = sessions.getItem(name)
  return kept === undefined
    ? undefined
    : { ...JSON.parse(kept), state: 'lost', error: undefined, wasAway: true }
}

const nameOf = (place: ChatPlace): string => `chat ${JSON.stringify(Object.values(place))}`
