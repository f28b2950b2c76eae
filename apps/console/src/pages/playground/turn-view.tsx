import { Bot, FileText, UserRound } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { ReplyText } from './reply/reply-text.tsx'
import { TimeLine } from './reply/time-line.tsx'
import styles from './turn.module.css'
import { isRunning, type Turn } from './turn.ts'
import { TurnEnd } from './turn-end.tsx'
import { TurnFooter } from './turn-footer.tsx'

interface TurnViewProps {
  readonly turn: Turn
  readonly agent: string
  readonly agentName: string
  readonly app: string
  readonly conversationId: string
  /** Whether no other message came after it. */
  readonly isLast: boolean
  readonly mayMakeKeys: boolean
  onTryAgain(): void
  onAskAgain(): void
}

/** A message, what the agent did, and its reply. */
export function TurnView(props: TurnViewProps) {
  const { turn, agentName, isLast, mayMakeKeys, onTryAgain, onAskAgain, ...chat } = props
  const t = useTranslations('playground')
  const runs = isRunning(turn)
  return (
    <article className={styles.turn} aria-busy={runs}>
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
        {turn.details.length > 0 && <TimeLine details={turn.details} isRunning={runs} />}
        {turn.text !== '' && <ReplyText text={turn.text} isRunning={runs} />}
        {runs ? (
          <Progress turn={turn} />
        ) : (
          <TurnEnd {...{ turn, isLast, mayMakeKeys, onTryAgain, onAskAgain }} />
        )}
        {!runs && <TurnFooter turn={turn} {...chat} />}
      </div>
    </article>
  )
}

/** What a running reply is at. */
function Progress({ turn }: { readonly turn: Turn }) {
  const t = useTranslations('playground')
  const { isStopped, isReconnecting, text } = turn
  const doing = isStopped ? 'stopping' : isReconnecting ? 'reconnecting' : text === '' ? 'waiting' : 'writing'
  return (
    <p className={styles.running}>
      <span className={styles.dots} aria-hidden />
      {t(doing)}
    </p>
  )
}
