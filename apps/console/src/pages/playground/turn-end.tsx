import { CirclePause, CloudOff, SearchX, Unplug } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { Button } from '../../ui/button.tsx'
import { ErrorNotice, Notice } from '../../ui/notice.tsx'
import styles from './turn.module.css'
import type { Turn } from './turn.ts'

interface TurnEndProps {
  readonly turn: Turn
  /** Whether no other message came after it. */
  readonly isLast: boolean
  readonly mayMakeKeys: boolean
  onTryAgain(): void
  onAskAgain(): void
}

const ICONS = { interrupted: Unplug, unread: CirclePause, missing: SearchX, gone: CloudOff } as const

/** How a reply has ended, unless it is complete, and what can be done about it. */
export function TurnEnd({ turn, isLast, mayMakeKeys, onTryAgain, onAskAgain }: TurnEndProps) {
  const t = useTranslations('playground')
  const { state, error } = turn
  switch (state) {
    case 'stopped':
      return <p className={styles.note}>{t('stopped')}</p>
    case 'failed':
      return <ErrorNotice error={error} retry={onAskAgain} />
    case 'lost':
      if (error !== undefined) return <ErrorNotice error={error} retry={onTryAgain} />
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
          action={isLast && <Button onClick={onAskAgain}>{t('askAgain')}</Button>}
        >
          {turn.text !== '' && <p>{t('endsHint')}</p>}
        </Notice>
      )
    }
    default:
      return null
  }
}
