import { getRouteApi } from '@tanstack/react-router'
import { MessageSquarePlus, MessagesSquare } from 'lucide-react'
import { useEffect, useLayoutEffect, useState } from 'react'
import { useTranslations } from 'use-intl'
import { useSession } from '../../session/use-session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField } from '../../ui/fields/field.tsx'
import { ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { Page } from '../../ui/page.tsx'
import type { Agent } from '../agents/agent.ts'
import { AgentStatus } from '../agents/agent-status.tsx'
import { useApp } from './app-choice.tsx'
import { Chat } from './chat.tsx'
import { ChatList, useChatCount } from './chats/chat-list.tsx'
import { keyOf } from './chats/open-chats.ts'
import { useChat } from './chats/use-chat.ts'
import { useAttachments } from './composer/use-attachments.ts'
import { PasteKey } from './paste-key.tsx'
import styles from './playground.module.css'

const route = getRouteApi('/shell/playground/$id')

interface PlaygroundProps {
  readonly agent: Agent
  readonly agents: readonly Agent[]
}

/** A chat with an agent beside the list of all chats. What is attached stays when another chat or app is chosen. */
export function Playground({ agent, agents }: PlaygroundProps) {
  const t = useTranslations('playground')
  const { role } = useSession()
  const { chat: chatId, user: endUser = '' } = route.useSearch()
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
  const attachments = useAttachments(agent.id, key)
  const [app, setApp] = useApp(agent)
  const place = { agent: agent.id, app, conversationId: chatId, endUser }
  const { session, error, refetch } = useChat(place)
  const chatCount = useChatCount()
  const [isListOpen, setListOpen] = useState(false)
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
            {t('chats.open', { count: chatCount })}
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
          <ChatList shownId={chatId} />
        </aside>
        <section className={styles.chat} aria-label={t('chatWith', { name: agent.name })}>
          {session === undefined ? (
            error === null ? (
              <Loading shape="lines" />
            ) : (
              <ErrorNotice error={error} retry={refetch} />
            )
          ) : (
            <Chat
              {...{ agent, session, attachments, mayMakeKeys }}
              hasAccess={mayMakeKeys || hasKey}
              isNew={chatId === undefined}
              onApp={setApp}
            />
          )}
        </section>
      </div>
      <Dialog title={t('chats.title')} isOpen={isListOpen} onClose={() => setListOpen(false)}>
        <ChatList shownId={chatId} onChoose={() => setListOpen(false)} />
      </Dialog>
    </Page>
  )
}
