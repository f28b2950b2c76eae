import { MessageSquarePlus } from 'lucide-react'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useTranslations } from 'use-intl'
import { useDraftText } from '../../form/drafts.ts'
import { useSession } from '../../session/use-session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import type { Agent } from '../agents/agent.ts'
import { AgentStatus } from '../agents/agent-status.tsx'
import { AppChoice, useApp } from './app-choice.tsx'
import type { ChatSession } from './chat-session.ts'
import { chatOf, endChat, keyOf } from './chats.ts'
import { Composer } from './composer.tsx'
import { Conversation } from './conversation.tsx'
import { PasteKey } from './paste-key.tsx'
import styles from './playground.module.css'
import { isRunning, type Turn } from './turn.ts'
import { useAttachments } from './use-attachments.ts'

/** The chat itself. What is typed and attached stays when a new chat begins or another app is chosen. */
export function Playground({ agent }: { readonly agent: Agent }) {
  const t = useTranslations('playground')
  const { role } = useSession()
  const mayMakeKeys = role !== 'user'
  const key = keyOf(agent.id)
  const [hasKey, setHasKey] = useState(false)
  // A pasted key is gone with the page.
  useEffect(() => () => key.paste(undefined), [key])
  const [draft, setDraft] = useDraftText(`chat ${agent.id}`)
  const attachments = useAttachments(agent.id, key)
  const [app, setApp] = useApp(agent)
  const [chatNumber, setChatNumber] = useState(1)
  const keepsConversation = agent.features.conversation
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new number is a new chat.
  const session = useMemo(
    () => chatOf(agent.id, app, keepsConversation),
    [agent.id, app, keepsConversation, chatNumber],
  )
  const hasAccess = mayMakeKeys || hasKey
  const turns = useTurns(session, hasAccess)
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
        <Button
          disabled={turns.length === 0}
          onClick={() => {
            endChat(agent.id)
            setChatNumber(chatNumber + 1)
          }}
        >
          <MessageSquarePlus aria-hidden />
          {t('newChat')}
        </Button>
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
      <section className={styles.chat} aria-label={t('chatWith', { name: agent.name })}>
        <AppChoice agent={agent} app={app} onChange={setApp} />
        <Conversation {...{ agent, app, session, turns, mayMakeKeys }} />
        <Composer
          agentName={agent.name}
          draft={draft}
          onDraft={setDraft}
          attachments={agent.features.files ? attachments : undefined}
          isRunning={turns.some(isRunning)}
          isLocked={!hasAccess}
          onStop={() => session.stop()}
          onSend={() => {
            const files = attachments.take()
            setDraft('')
            void session.send(draft, files)
          }}
        />
      </section>
    </Page>
  )
}

/** The turns of a chat, which goes on with what a reload has broken off as soon as there is a key. */
function useTurns(session: ChatSession, hasAccess: boolean): readonly Turn[] {
  useEffect(() => {
    if (hasAccess) void session.resumeUnfinished()
  }, [session, hasAccess])
  return useSyncExternalStore(session.subscribe, () => session.turns)
}
