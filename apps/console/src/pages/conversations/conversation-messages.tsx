import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Bot, ThumbsDown, ThumbsUp, UserRound } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import {
  type ConversationFieldsFragment,
  ConversationMessagesDocument,
  type ConversationMessagesQuery,
} from '../../generated/graphql.ts'
import { graphqlPages } from '../../session/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Empty, ErrorNotice, Loading, Notice } from '../../ui/notice.tsx'
import { FileLink } from '../playground/reply/files-of-reply.tsx'
import { ReplyText } from '../playground/reply/reply-text.tsx'
import styles from '../playground/turns/turn.module.css'

type Messages = NonNullable<NonNullable<ConversationMessagesQuery['conversation']>['messages']>
type Message = Messages['nodes'][number]

const MESSAGES_AT_ONCE = 20
const ICONS = { UP: ThumbsUp, DOWN: ThumbsDown }

interface ConversationMessagesProps {
  readonly conversation: ConversationFieldsFragment
}

/** What was said, in its order, the newest page at first. A platform that is away is an error of this part alone. */
export function ConversationMessages({ conversation }: ConversationMessagesProps) {
  const t = useTranslations('conversations')
  const { id, agent, agentId } = conversation
  const variables = { id, last: MESSAGES_AT_ONCE }
  const query = useInfiniteQuery(
    graphqlPages(ConversationMessagesDocument, variables, (data) => data.conversation?.messages),
  )
  const { data, error, refetch, hasNextPage, isFetchNextPageError } = query
  const pages = data?.pages.flatMap((page) => page.conversation?.messages ?? []).toReversed()
  const messages = pages?.flatMap(({ nodes }) => nodes) ?? []
  return (
    <Card title={t('messages')}>
      <div className={styles.turn}>
        {error !== null && (
          <ErrorNotice
            error={error}
            retry={() => void (isFetchNextPageError ? query.fetchNextPage() : refetch())}
          />
        )}
        {hasNextPage && (
          <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t('earlier')}
          </Button>
        )}
        {pages?.some(({ isComplete }) => !isComplete) && <Notice tone="info">{t('incomplete')}</Notice>}
        {pages !== undefined && messages.length === 0 && <Empty title={t('noMessages')} />}
        {pages === undefined && error === null && <Loading shape="lines" />}
        {messages.length > 0 && (
          <ol className={styles.turn} aria-label={t('messages')}>
            {messages.map((message) => (
              <MessageItem key={message.messageId} message={message} agentName={agent?.name ?? agentId} />
            ))}
          </ol>
        )}
      </div>
    </Card>
  )
}

interface MessageItemProps {
  readonly message: Message
  readonly agentName: string
}

function MessageItem({ message, agentName }: MessageItemProps) {
  const t = useTranslations('conversations')
  const playground = useTranslations('playground')
  const { role, text, files, createdAt, callId, rating } = message
  const isAnswer = role === 'ASSISTANT'
  const Icon = isAnswer ? Bot : UserRound
  const Thumb = rating && ICONS[rating]
  return (
    <li className={classNames(isAnswer ? styles.reply : styles.message)}>
      <span className={styles.who}>
        <Icon aria-hidden />
        <strong>{isAnswer ? agentName : t('user')}</strong>
        {createdAt !== null && <Moment at={createdAt} />}
        {Thumb && rating && (
          <>
            <Thumb aria-hidden />
            {t(`rated.${rating}`)}
          </>
        )}
        {callId !== null && (
          <Link to="/calls/$id" params={{ id: callId }}>
            {playground('toCall')}
          </Link>
        )}
      </span>
      {isAnswer ? <ReplyText text={text} isRunning={false} /> : <p className={styles.text}>{text}</p>}
      {files.length > 0 && (
        <ul className={styles.files} aria-label={playground('files')}>
          {files.map(({ url, name }) => (
            <li key={url}>
              <FileLink url={url} name={name ?? url} />
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}
