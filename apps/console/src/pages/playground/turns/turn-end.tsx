import { CirclePause, CloudOff, SearchX, Unplug } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { Button } from '../../../ui/button.tsx'
import { ErrorNotice, Notice } from '../../../ui/notice.tsx'
import type { ChatSession } from '../chats/chat-session.ts'
import type { Turn } from '../chats/turn.ts'
import styles from './turn.module.css'

interface TurnEndProps {
  readonly turn: Turn
  readonly session: ChatSession
  /** Whether no other message came after it. */
  readonly isLast: boolean
  readonly mayMakeKeys: boolean
}

const ICONS = { interrupted: Unplug, unread: CirclePause, missing: SearchX, gone: CloudOff } as const

/** How a reply has ended, unless it is complete, and what can be done about it. */
export function TurnEnd({ turn, session, isLast, mayMakeKeys }: TurnEndProps) {
  const t = useTranslations('playground')
  const { state, error } = turn
  const askAgain = () => void session.askAgain(turn)
  switch (state) {
    case 'stopped':
      return <p className={styles.note}>{t('stopped')}</p>
    case 'failed':
      return <ErrorNotice error={error} retry={askAgain} />
    case 'lost':
      if (error !== undefined) return <ErrorNotice error={error} retry={() => void session.tryAgain(turn)} />
      return <p className={styles.note}>{t(mayMakeKeys ? 'reconnecting' : 'pasteToResume')}</p>
    case 'interrupted':
    case 'unread':
    case 'missing':
    case 'gone': {
      const Icon = ICONS[state]
      return (
        <Notice
          tone="warn"
          icon={<Icon aria-hidden />}
          title={t(`ends.${state}`)}
          action={isLast && <Button onClick={askAgain}>{t('askAgain')}</Button>}
        >
          {turn.text !== '' && <p>{t('endsHint')}</p>}
        </Notice>
      )
    }
    default:
      return null
  }
}
