import { Link } from '@tanstack/react-router'
import { Pencil, Trash2 } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import type { ConversationFieldsFragment } from '../../../generated/graphql.ts'
import { IconButton } from '../../../ui/button.tsx'
import styles from './chat-list.module.css'

/** Names a conversation in the address of the playground. */
export function chatSearchOf({
  appId,
  conversationId,
  endUser,
}: Pick<ConversationFieldsFragment, 'appId' | 'conversationId' | 'endUser'>) {
  return {
    ...(appId !== '' && { app: appId }),
    chat: conversationId,
    ...(endUser !== '' && { user: endUser }),
  }
}

interface ChatRowProps {
  readonly chat: ConversationFieldsFragment
  readonly isShown: boolean
  readonly onChoose: (() => void) | undefined
  onRename(): void
  onDelete(): void
}

/** Without a name, a chat is known by its agent and its time. */
export function ChatRow({ chat, isShown, onChoose, onRename, onDelete }: ChatRowProps) {
  const t = useTranslations('playground.chats')
  const { moment } = useFormats()
  const { agentId, agent, name, lastActivityAt } = chat
  const at = moment(lastActivityAt)
  const agentName = agent?.name ?? agentId
  const title = name ?? agentName
  return (
    <li className={styles.row}>
      <Link
        className={styles.chat}
        to="/playground/$id"
        params={{ id: agentId }}
        search={chatSearchOf(chat)}
        aria-current={isShown ? 'page' : undefined}
        title={title}
        onClick={onChoose}
      >
        <span className={styles.title}>{title}</span>
        <span className={styles.about}>{name === null ? at : `${agentName} · ${at}`}</span>
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
