import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useSession } from '../../../session/use-session.ts'
import type { ChatSession } from './chat-session.ts'
import { chatsOf, isReadElsewhere } from './chats.ts'
import type { ChatsOfUser, ChatsView } from './chats-of-user.ts'
import type { Turn } from './turn.ts'

/** The chats of the user who is logged in, as far as this browser has them. */
export function useChats(): readonly [ChatsOfUser, ChatsView] {
  const { userId } = useSession()
  const chats = useMemo(() => chatsOf(userId), [userId])
  return [chats, useSyncExternalStore(chats.subscribe, () => chats.view)]
}

interface ChatToShow {
  readonly agent: string
  readonly app: string
  readonly keepsConversation: boolean
  /** Undefined for a chat that is new. */
  readonly chatId: string | undefined
}

/** The chat of a page: undefined while it is being read, `missing` where this browser does not have it. */
export function useChat(
  [chats, view]: ReturnType<typeof useChats>,
  { agent, app, keepsConversation, chatId }: ChatToShow,
): ChatSession | 'missing' | undefined {
  const { isLoaded } = view
  const [, setOpened] = useState<ChatSession>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: after another chat, the new one is another as well.
  const begun = useMemo(
    () => chats.begin({ agent, app, keepsConversation }),
    [chats, agent, app, keepsConversation, chatId],
  )
  const opened = chatId === undefined ? begun : chats.opened(chatId)
  const isKept = chatId !== undefined && chats.record(chatId)?.agent === agent
  const mustOpen = isLoaded && isKept && opened === undefined
  useEffect(() => {
    if (mustOpen) void chats.open(chatId ?? '', keepsConversation).then(setOpened)
  }, [chats, mustOpen, chatId, keepsConversation])
  if (!isLoaded || mustOpen) return undefined
  return opened?.agent === agent ? opened : 'missing'
}

const ASKED_EVERY_MS = 5_000

interface TurnsOfChat {
  readonly turns: readonly Turn[]
  /** Whether another tab is reading the answer that is unfinished here. */
  readonly isElsewhere: boolean
}

/**
 * The turns of a chat. It goes on with what a reload has broken off as soon as there is a key, unless another tab has gone on with
 * it.
 */
export function useTurns(session: ChatSession, hasAccess: boolean): TurnsOfChat {
  const turns = useSyncExternalStore(session.subscribe, () => session.turns)
  const [isElsewhere, setElsewhere] = useState(false)
  const unfinished = session.unfinished?.id
  useEffect(() => {
    setElsewhere(false)
    if (unfinished === undefined || !hasAccess) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const resume = async () => {
      const isRead = await isReadElsewhere(session.id)
      if (isOver) return
      setElsewhere(isRead)
      // The other tab may be closed in the middle of the answer.
      if (isRead) timer = setTimeout(resume, ASKED_EVERY_MS)
      else void session.resumeUnfinished()
    }
    void resume()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [session, hasAccess, unfinished])
  return { turns, isElsewhere }
}
