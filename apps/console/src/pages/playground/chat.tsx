import { getRouteApi } from '@tanstack/react-router'
import type { Agent } from '../agents/agent.ts'
import { AppChoice } from './app-choice.tsx'
import type { ChatSession } from './chats/chat-session.ts'
import { isRunning, type SentFile } from './chats/turn.ts'
import { takeBegunChat, useTurns } from './chats/use-chat.ts'
import { Composer } from './composer/composer.tsx'
import type { Attachments } from './composer/use-attachments.ts'
import { Conversation } from './conversation.tsx'

const route = getRouteApi('/shell/playground/$id')

interface ChatProps {
  readonly agent: Agent
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
export function Chat({ agent, session, attachments, mayMakeKeys, hasAccess, isNew, onApp }: ChatProps) {
  const navigate = route.useNavigate()
  const turns = useTurns(session, hasAccess)
  const runs = turns.some(isRunning)
  const { app, conversationId } = session.place
  function send(query: string, files: readonly SentFile[]): Promise<boolean> {
    const sent = session.send(query, files)
    if (isNew) {
      takeBegunChat(session)
      const address = { ...(app !== '' && { app }), chat: conversationId }
      void navigate({ search: (search) => ({ ...search, ...address }), replace: true })
    }
    return sent
  }
  return (
    <>
      <AppChoice agent={agent} app={app} onChange={onApp} />
      <Conversation
        key={conversationId}
        {...{ agent, session, turns, mayMakeKeys }}
        isBusy={runs || !hasAccess}
        onSuggestion={(query) => void send(query, [])}
      />
      <Composer
        agentName={agent.name}
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
