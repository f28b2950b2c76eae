import { Link } from '@tanstack/react-router'
import { Pencil, Trash2 } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { IconButton } from '../../../ui/button.tsx'
import styles from './chat-list.module.css'
import type { ChatRecord } from './chat-store.ts'

interface ChatRowProps {
  readonly record: ChatRecord
  readonly agentName: string
  readonly isShown: boolean
  readonly onChoose: (() => void) | undefined
  onRename(): void
  onDelete(): void
}

export function ChatRow({ record, agentName, isShown, onChoose, onRename, onDelete }: ChatRowProps) {
  const t = useTranslations('playground.chats')
  const formats = useFormats()
  const { id, agent, title, changedAtMs } = record
  return (
    <li className={styles.row}>
      <Link
        className={styles.chat}
        to="/playground/$id"
        params={{ id: agent }}
        search={{ chat: id }}
        aria-current={isShown ? 'page' : undefined}
        title={title}
        onClick={onChoose}
      >
        <span className={styles.title}>{title}</span>
        <span className={styles.about}>
          {agentName} · {formats.moment(new Date(changedAtMs))}
        </span>
      </Link>
      <IconButton label={t('renameOf', { title })} onClick={onRename}>
        <Pencil aria-hidden />
      </IconButton>
      <IconButton label={t('deleteOf', { title })} onClick={onDelete}>
        <Trash2 aria-hidden />
      </IconButton>
    </li>
  )
}
