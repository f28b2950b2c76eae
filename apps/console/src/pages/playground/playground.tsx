import { getRouteApi } from '@tanstack/react-router'
import { MessageSquarePlus, MessagesSquare } from 'lucide-react'
import { useEffect, useLayoutEffect, useState } from 'react'
import { useTranslations } from 'use-intl'
import { useSession } from '../../session/use-session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField } from '../../ui/fields/field.tsx'
import { Empty, Loading } from '../../ui/notice.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { Page } from '../../ui/page.tsx'
import type { Agent } from '../agents/agent.ts'
import { AgentStatus } from '../agents/agent-status.tsx'
import { useApp } from './app-choice.tsx'
import { Chat } from './chat.tsx'
import { ChatList } from './chats/chat-list.tsx'
import { keyOf } from './chats/chats.ts'
import type { ChatsOfUser, ChatsView } from './chats/chats-of-user.ts'
import { useChat } from './chats/use-chats.ts'
import { useAttachments } from './composer/use-attachments.ts'
import { PasteKey } from './paste-key.tsx'
import styles from './playground.module.css'

const route = getRouteApi('/shell/playground/$id')

interface PlaygroundProps {
  readonly agent: Agent
  readonly agents: readonly Agent[]
  readonly chats: ChatsOfUser
  readonly view: ChatsView
}

/** A chat with an agent beside the list of all chats. What is attached stays when another chat or app is chosen. */
export function Playground({ agent, agents, chats, view }: PlaygroundProps) {
  const t = useTranslations('playground')
  const { role } = useSession()
  const { chat: chatId } = route.useSearch()
  const navigate = route.useNavigate()
  const mayMakeKeys = role !== 'user'
  const key = keyOf(agent.id)
  const [hasKey, setHasKey] = useState(false)
  useLayoutEffect(() => {
    const { dataset } = document.documentElement
    dataset.chat = ''
    return () => {
      delete dataset.chat
    }
  }, [])
  // A pasted key is gone with the page.
  useEffect(() => () => key.paste(undefined), [key])
  const attachments = useAttachments(agent.id, key, chats)
  const [app, setApp] = useApp(agent)
  const keepsConversation = agent.features.conversation
  const session = useChat([chats, view], { agent: agent.id, app, keepsConversation, chatId })
  const [isListOpen, setListOpen] = useState(false)
  const agentNames = new Map(agents.map(({ id, name }) => [id, name]))
  const list = { chats, view, shownId: chatId, agentNames }
  return (
    <Page
      title={agent.name}
      lead={
        <span className={styles.lead}>
          <AgentStatus status={agent.status} />
          {agent.sandbox && <Badge>{t('sandbox')}</Badge>}
          {agent.description === '' ? t('lead') : agent.description}
        </span>
      }
      actions={
        <>
          {/* Another agent begins a new chat; the one that is shown stays in the list. */}
          <SelectField
            className={styles.agent}
            label={t('agent')}
            value={agent.id}
            onChange={({ target }) => void navigate({ to: '/playground/$id', params: { id: target.value } })}
          >
            {agents.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
          <Button className={styles.openList} onClick={() => setListOpen(true)}>
            <MessagesSquare aria-hidden />
            {t('chats.open', { count: view.list.length })}
          </Button>
          <Button
            disabled={chatId === undefined}
            onClick={() =>
              void navigate({ search: ({ app: same }) => (same === undefined ? {} : { app: same }) })
            }
          >
            <MessageSquarePlus aria-hidden />
            {t('newChat')}
          </Button>
        </>
      }
    >
      {!mayMakeKeys && (
        <PasteKey
          hasKey={hasKey}
          onKey={(pasted) => {
            key.paste(pasted)
            setHasKey(pasted !== undefined)
          }}
        />
      )}
      <div className={styles.columns}>
        <aside className={styles.list} aria-label={t('chats.title')}>
          <h2>{t('chats.title')}</h2>
          <ChatList {...list} />
        </aside>
        <section className={styles.chat} aria-label={t('chatWith', { name: agent.name })}>
          {session === 'missing' ? (
            <div className={styles.missing}>
              <Empty title={t('chats.missing')}>
                <p>{t('chats.missingHint')}</p>
              </Empty>
            </div>
          ) : session === undefined ? (
            <Loading shape="lines" />
          ) : (
            <Chat
              {...{ agent, chats, session, attachments, mayMakeKeys }}
              hasAccess={mayMakeKeys || hasKey}
              isNew={chatId === undefined}
              onApp={setApp}
            />
          )}
        </section>
      </div>
      <Dialog title={t('chats.title')} isOpen={isListOpen} onClose={() => setListOpen(false)}>
        <ChatList {...list} onChoose={() => setListOpen(false)} />
      </Dialog>
    </Page>
  )
}
