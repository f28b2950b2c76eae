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
import { ChatSession, type Turn } from './chat-session.ts'
import { Composer } from './composer.tsx'
import { Conversation } from './conversation.tsx'
import { PasteKey } from './paste-key.tsx'
import styles from './playground.module.css'
import { useAttachments } from './use-attachments.ts'
import { usePlaygroundKey } from './use-playground-key.ts'

/** The chat itself. What is typed and attached stays when a new chat begins or another app is chosen. */
export function Playground({ agent }: { readonly agent: Agent }) {
  const t = useTranslations('playground')
  const { role } = useSession()
  const mayMakeKeys = role !== 'user'
  const key = usePlaygroundKey(agent.id)
  const [hasKey, setHasKey] = useState(false)
  const [draft, setDraft] = useDraftText(`chat ${agent.id}`)
  const attachments = useAttachments(agent.id, key)
  const [app, setApp] = useApp(agent)
  const [chatNumber, setChatNumber] = useState(1)
  const keepsConversation = agent.features.conversation
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new number is a new chat.
  const session = useMemo(
    () =>
      new ChatSession({
        baseURL: location.origin,
        agent: agent.id,
        app,
        keepsConversation,
        key,
      }),
    [agent.id, app, key, keepsConversation, chatNumber],
  )
  const { turns, isRunning } = useChat(session)
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
        <Button onClick={() => setChatNumber(chatNumber + 1)} disabled={turns.length === 0}>
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
          isRunning={isRunning}
          isLocked={!mayMakeKeys && !hasKey}
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

interface Chat {
  readonly turns: readonly Turn[]
  readonly isRunning: boolean
}

/** The turns of a chat. Leaving it breaks off what is running. */
function useChat(session: ChatSession): Chat {
  const turns = useSyncExternalStore(session.subscribe, () => session.turns)
  useEffect(() => () => session.stop(), [session])
  const state = turns.at(-1)?.state
  return { turns, isRunning: state === 'waiting' || state === 'streaming' }
}
