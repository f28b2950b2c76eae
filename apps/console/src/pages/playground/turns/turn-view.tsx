import { Bot } from 'lucide-react'
import { memo } from 'react'
import { useTranslations } from 'use-intl'
import { Disclosure } from '../../../ui/disclosure.tsx'
import type { ChatSession } from '../chats/chat-session.ts'
import { isRunning, type Turn } from '../chats/turn.ts'
import { PauseForm } from '../pause/pause-form.tsx'
import { FilesOfReply } from '../reply/files-of-reply.tsx'
import { ReplyText } from '../reply/reply-text.tsx'
import { TimeLine } from '../reply/time-line.tsx'
import styles from './turn.module.css'
import { TurnEnd } from './turn-end.tsx'
import { TurnFooter } from './turn-footer.tsx'
import { TurnQuestion } from './turn-question.tsx'

interface TurnViewProps {
  readonly turn: Turn
  readonly session: ChatSession
  readonly agentName: string
  /** Whether no other message came after it. */
  readonly isLast: boolean
  /** Whether another answer of the chat is being written, so that nothing can be sent. */
  readonly isBusy: boolean
  readonly isElsewhere: boolean
  /** Whether the question with which the reply has ended waits for its answer. */
  readonly mayAnswer: boolean
  readonly mayMakeKeys: boolean
  onEdit(turn: Turn, query: string): void
}

/** A message, what the agent did, and its reply. Drawn again only if something of it has changed, because a chat may be long. */
export const TurnView = memo((props: TurnViewProps) => {
  const { turn, session, agentName, isLast, isBusy, isElsewhere, mayAnswer, mayMakeKeys, onEdit } = props
  const t = useTranslations('playground')
  const runs = isRunning(turn)
  return (
    <article className={styles.turn} aria-busy={runs}>
      {turn.carried !== '' && <p className={styles.note}>{t('carried')}</p>}
      <TurnQuestion turn={turn} mayEdit={!isBusy} onEdit={(query) => onEdit(turn, query)} />
      <div className={styles.reply}>
        <span className={styles.who}>
          <Bot aria-hidden />
          <strong>{agentName}</strong>
        </span>
        {turn.earlierAnswers.length > 0 && <EarlierAnswers answers={turn.earlierAnswers} />}
        {turn.details.length > 0 && <TimeLine details={turn.details} isRunning={runs} />}
        {turn.text !== '' && <ReplyText text={turn.text} isRunning={runs} />}
        <FilesOfReply files={turn.madeFiles} text={turn.text} />
        {runs ? (
          <Progress turn={turn} />
        ) : (
          <TurnEnd {...{ turn, session, isLast, isElsewhere, mayMakeKeys }} />
        )}
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

/** The answers that were there before the question was asked again. */
function EarlierAnswers({ answers }: { readonly answers: readonly string[] }) {
  const t = useTranslations('playground')
  return (
    <Disclosure label={t('earlierAnswers', { count: answers.length })}>
      <ol className={styles.earlier}>
        {answers.map((answer, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: answers are only added at the end.
          <li key={index}>
            <ReplyText text={answer} isRunning={false} />
          </li>
        ))}
      </ol>
    </Disclosure>
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
