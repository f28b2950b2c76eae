import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { ConversationFieldsFragment } from '../../../generated/graphql.ts'
import { queryClient } from '../../../session/queries.ts'
import { randomId } from '../../../session/random-id.ts'
import { useSession } from '../../../session/use-session.ts'
import { rereadConversations } from '../../conversations/delete-conversation.tsx'
import type { ChatPlace, ChatSession } from './chat-session.ts'
import { beginChat, openChat } from './open-chats.ts'
import type { Turn } from './turn.ts'

type PlaceToOpen = Omit<ChatPlace, 'conversationId'> & {
  /** Undefined for a chat that is new. */
  readonly conversationId: string | undefined
}

/** A conversation is listed within so long after the end of its first call. */
const LISTED_WITHIN_MS = 1_500

/** The chat of a page: the session, once what was said is read. */
export function useChat({ agent, app, conversationId, endUser }: PlaceToOpen) {
  const { userId } = useSession()
  // biome-ignore lint/correctness/useExhaustiveDependencies: after another chat, the new one is another as well.
  const begun = useMemo(
    () => beginChat({ agent, app, conversationId: `playground-${randomId()}`, endUser }),
    [agent, app, conversationId, endUser],
  )
  const place = { agent, app, conversationId: conversationId ?? '', endUser }
  const { data, error, refetch } = useQuery({
    queryKey: chatKey(place),
    queryFn: () => openChat(place, userId),
    enabled: conversationId !== undefined,
    // What is read again would lose the steps of replies.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return { session: conversationId === undefined ? begun : data, error, refetch }
}

/** Takes a chat that has begun as the one that its address names. */
export function takeBegunChat(session: ChatSession): void {
  queryClient.setQueryData(chatKey(session.place), session)
}

/** The chat is read anew when it is opened next: it was deleted, or goes on with what was said elsewhere. */
export function forgetChat({ agentId, appId, conversationId, endUser }: ConversationFieldsFragment): void {
  queryClient.removeQueries({ queryKey: chatKey({ agent: agentId, app: appId, conversationId, endUser }) })
}

const chatKey = (place: ChatPlace) => ['chat', place] as const

/** The turns of a chat. It goes on with what a reload has broken off as soon as there is a key. */
export function useTurns(session: ChatSession, hasAccess: boolean): readonly Turn[] {
  const turns = useSyncExternalStore(session.subscribe, () => session.turns)
  useEffect(() => {
    if (hasAccess) void session.resumeUnfinished()
  }, [session, hasAccess])
  const { isRunning } = session
  useEffect(() => {
    if (isRunning) return
    const timer = setTimeout(() => void rereadConversations(), LISTED_WITHIN_MS)
    return () => clearTimeout(timer)
  }, [isRunning])
  return turns
}
