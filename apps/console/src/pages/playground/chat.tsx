import { getRouteApi } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Agent } from '../agents/agent.ts'
import { AppChoice } from './app-choice.tsx'
import type { ChatSession } from './chats/chat-session.ts'
import type { ChatsOfUser } from './chats/chats-of-user.ts'
import { isRunning, type SentFile, type Turn } from './chats/turn.ts'
import { useTurns } from './chats/use-chats.ts'
import { Composer } from './composer/composer.tsx'
import type { Attachments } from './composer/use-attachments.ts'
import { Conversation } from './conversation.tsx'

const route = getRouteApi('/shell/playground/$id')

interface ChatProps {
  readonly agent: Agent
  readonly chats: ChatsOfUser
  readonly session: ChatSession
  readonly attachments: Attachments
  /** Whether a key is made for the page; otherwise the user pastes one. */
  readonly mayMakeKeys: boolean
  /** True once there is a key to send with. */
  readonly hasAccess: boolean
  /** Whether nothing was sent yet, so that the address does not name the chat. */
  readonly isNew: boolean
  onApp(app: string): void
}

/** The messages of one chat, and where the next one is written. */
export function Chat(props: ChatProps) {
  const { agent, chats, session, attachments, mayMakeKeys, hasAccess, isNew, onApp } = props
  const navigate = route.useNavigate()
  const { turns, isElsewhere } = useTurns(session, hasAccess)
  const runs = turns.some(isRunning)
  /** The turns before stay together with a changed question in a chat of its own. */
  const edit = useCallback(
    (turn: Turn, query: string) => {
      const { app, endUser, turns: all } = session
      const before = all.slice(
        0,
        all.findIndex(({ id }) => id === turn.id),
      )
      const keepsConversation = agent.features.conversation
      const edited = chats.begin({ agent: agent.id, app, endUser, keepsConversation, turns: before })
      void edited.send(query, turn.files)
      void navigate({ search: { chat: edited.id } })
    },
    [agent, chats, session, navigate],
  )
  function send(query: string, files: readonly SentFile[]): Promise<boolean> {
    const sent = session.send(query, files)
    if (isNew) void navigate({ search: (search) => ({ ...search, chat: session.id }), replace: true })
    return sent
  }
  return (
    <>
      <AppChoice agent={agent} app={session.app} onChange={onApp} />
      <Conversation
        key={session.id}
        {...{ agent, session, turns, isElsewhere, mayMakeKeys }}
        isBusy={runs || !hasAccess}
        onEdit={edit}
        onSuggestion={(query) => void send(query, [])}
      />
      <Composer
        agentName={agent.name}
        chats={chats}
        draftName={isNew ? `new ${agent.id}` : session.id}
        isNew={isNew}
        attachments={agent.features.files ? attachments : undefined}
        isRunning={runs}
        isLocked={!hasAccess}
        onStop={() => session.stop()}
        onSend={send}
      />
    </>
  )
}
