import { Bot, FileText, UserRound } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { ErrorNotice } from '../../ui/notice.tsx'
import type { Turn } from './chat-session.ts'
import { ReplyText } from './reply/reply-text.tsx'
import { TimeLine } from './reply/time-line.tsx'
import styles from './turn.module.css'
import { TurnFooter } from './turn-footer.tsx'

interface TurnViewProps {
  readonly turn: Turn
  readonly agent: string
  readonly agentName: string
  readonly app: string
  readonly conversationId: string
  onRetry(): void
}

/** A message, what the agent did, and its reply. */
export function TurnView({ turn, agentName, onRetry, ...chat }: TurnViewProps) {
  const t = useTranslations('playground')
  const isRunning = turn.state === 'waiting' || turn.state === 'streaming'
  return (
    <article className={styles.turn} aria-busy={isRunning}>
      <div className={styles.message}>
        <span className={styles.who}>
          <UserRound aria-hidden />
          <strong>{t('you')}</strong>
        </span>
        <p className={styles.text}>{turn.query}</p>
        {turn.files.length > 0 && (
          <ul className={styles.files} aria-label={t('files')}>
            {turn.files.map((file) => (
              <li key={file.id}>
                <FileText aria-hidden />
                <a href={file.url} target="_blank" rel="noopener noreferrer">
                  {file.name}
                </a>
              </li>
            ))}
          </ul>
        )}
      </div>
      <div className={styles.reply}>
        <span className={styles.who}>
          <Bot aria-hidden />
          <strong>{agentName}</strong>
        </span>
        {turn.details.length > 0 && <TimeLine details={turn.details} isRunning={isRunning} />}
        {turn.text !== '' && <ReplyText text={turn.text} isRunning={isRunning} />}
        {isRunning && (
          <p className={styles.running}>
            <span className={styles.dots} aria-hidden />
            {t(turn.text === '' ? 'waiting' : 'writing')}
          </p>
        )}
        {turn.state === 'stopped' && <p className={styles.note}>{t('stopped')}</p>}
        {turn.state === 'failed' && <ErrorNotice error={turn.error} retry={onRetry} />}
        {!isRunning && <TurnFooter turn={turn} {...chat} />}
      </div>
    </article>
  )
}
