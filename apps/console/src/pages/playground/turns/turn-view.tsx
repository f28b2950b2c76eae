import { Bot, UserRound } from 'lucide-react'
import { memo } from 'react'
import { useTranslations } from 'use-intl'
import type { ChatSession } from '../chats/chat-session.ts'
import { isRunning, type Turn } from '../chats/turn.ts'
import { PauseForm } from '../pause/pause-form.tsx'
import { FileLink, FilesOfReply } from '../reply/files-of-reply.tsx'
import { ReplyText } from '../reply/reply-text.tsx'
import { TimeLine } from '../reply/time-line.tsx'
import styles from './turn.module.css'
import { TurnEnd } from './turn-end.tsx'
import { TurnFooter } from './turn-footer.tsx'

interface TurnViewProps {
  readonly turn: Turn
  readonly session: ChatSession
  readonly agentName: string
  /** Whether no other message came after it. */
  readonly isLast: boolean
  /** Whether another answer of the chat is being written, so that nothing can be sent. */
  readonly isBusy: boolean
  /** Whether the question with which the reply has ended waits for its answer. */
  readonly mayAnswer: boolean
  readonly mayMakeKeys: boolean
}

/** A message, what the agent did, and its reply. Drawn again only if something of it has changed, because a chat may be long. */
export const TurnView = memo((props: TurnViewProps) => {
  const { turn, session, agentName, isLast, isBusy, mayAnswer, mayMakeKeys } = props
  const runs = isRunning(turn)
  return (
    <article className={styles.turn} aria-busy={runs}>
      {/* Not every platform shows the message that led to an open question. */}
      {(turn.query !== '' || turn.answer !== undefined) && <Question turn={turn} />}
      <div className={styles.reply}>
        <span className={styles.who}>
          <Bot aria-hidden />
          <strong>{agentName}</strong>
        </span>
        {turn.details.length > 0 && <TimeLine details={turn.details} isRunning={runs} />}
        {turn.text !== '' && <ReplyText text={turn.text} isRunning={runs} />}
        <FilesOfReply files={turn.madeFiles} text={turn.text} />
        {runs ? <Progress turn={turn} /> : <TurnEnd {...{ turn, session, isLast, mayMakeKeys }} />}
        {turn.pause !== undefined && mayAnswer && !runs && (
          <PauseForm {...{ turn, session, isBusy }} pause={turn.pause} />
        )}
        {!runs && (
          <TurnFooter {...{ turn, session }} mayRegenerate={isLast && !isBusy && turn.answer === undefined} />
        )}
      </div>
    </article>
  )
})

/** The message of the user. */
function Question({ turn: { query, answer, files } }: { readonly turn: Turn }) {
  const t = useTranslations('playground')
  return (
    <div className={styles.message}>
      <span className={styles.who}>
        <UserRound aria-hidden />
        <strong>{t('you')}</strong>
      </span>
      <p className={styles.text}>{answer?.cancel === true ? t('pause.gaveUp') : query}</p>
      {files.length > 0 && (
        <ul className={styles.files} aria-label={t('files')}>
          {files.map((file) => (
            <li key={file.id}>
              <FileLink {...file} />
            </li>
          ))}
        </ul>
      )}
    </div>
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
