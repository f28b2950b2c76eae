import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from '../../../ui/button.tsx'
import { Confirm } from '../../../ui/overlays/confirm.tsx'
import { RenameDialog } from '../../../ui/overlays/rename-dialog.tsx'
import styles from './chat-list.module.css'
import { ChatRow } from './chat-row.tsx'
import type { ChatRecord } from './chat-store.ts'
import { type ChatsOfUser, type ChatsView, TITLE_CHARACTERS_MAX } from './chats-of-user.ts'

interface ChatListProps {
  readonly chats: ChatsOfUser
  readonly view: ChatsView
  /** The chat that is shown. */
  readonly shownId: string | undefined
  /** The names of the agents by their ids. */
  readonly agentNames: ReadonlyMap<string, string>
  /** Called when a chat was chosen. */
  onChoose?(): void
}

/** The chats of the user in this browser, with all agents, and where they are kept. */
export function ChatList({ chats, view, shownId, agentNames, onChoose }: ChatListProps) {
  const t = useTranslations('playground.chats')
  const navigate = useNavigate()
  const [renamed, setRenamed] = useState<ChatRecord>()
  const [deleted, setDeleted] = useState<ChatRecord | 'all'>()
  async function remove() {
    if (deleted === undefined) return
    const isShown = deleted === 'all' || deleted.id === shownId
    await (deleted === 'all' ? chats.clear() : chats.remove(deleted.id))
    if (isShown) await navigate({ to: '.', search: {}, replace: true })
  }
  return (
    <div className={styles.chats}>
      {view.list.length === 0 ? (
        <p className={styles.hint}>{t('none')}</p>
      ) : (
        <ul className={styles.list} aria-label={t('title')}>
          {view.list.map((record) => (
            <ChatRow
              key={record.id}
              record={record}
              agentName={agentNames.get(record.agent) ?? record.agent}
              isShown={record.id === shownId}
              onChoose={onChoose}
              onRename={() => setRenamed(record)}
              onDelete={() => setDeleted(record)}
            />
          ))}
        </ul>
      )}
      <footer className={styles.foot}>
        <p className={styles.hint} role={view.kept === 'browser' ? undefined : 'status'}>
          {t(`kept.${view.kept}`)}
        </p>
        {view.list.length > 0 && (
          <Button look="quiet" className={styles.clear} onClick={() => setDeleted('all')}>
            {t('clear')}
          </Button>
        )}
      </footer>
      <RenameDialog
        title={t('rename')}
        label={t('name')}
        name={renamed?.title}
        maxLength={TITLE_CHARACTERS_MAX}
        rename={(title) => renamed && chats.rename(renamed.id, title)}
        onClose={() => setRenamed(undefined)}
      />
      <Confirm
        title={t(deleted === 'all' ? 'clear' : 'delete')}
        action={t(deleted === 'all' ? 'clear' : 'delete')}
        isOpen={deleted !== undefined}
        onClose={() => setDeleted(undefined)}
        run={remove}
      >
        <p>
          {deleted === 'all'
            ? t('clearHint', { count: view.list.length })
            : t('deleteHint', { title: deleted?.title ?? '' })}
        </p>
      </Confirm>
    </div>
  )
}
