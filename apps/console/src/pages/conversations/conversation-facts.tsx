import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import type { ConversationFieldsFragment } from '../../generated/graphql.ts'
import { RowFacts } from '../../lists/row-facts.tsx'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { rangeAround } from '../calls/calls-range.ts'
import { ConversationState } from './conversations-table.tsx'

/** What is known of a conversation, with the ways to its agent, its owner and its calls. */
export function ConversationFacts(props: { readonly conversation: ConversationFieldsFragment }) {
  const t = useTranslations('conversations')
  const calls = useTranslations('calls')
  const isAdmin = useSession().role === 'admin'
  const { conversation } = props
  const { conversationId, agentId, appId, ownerId, endUser, lastActivityAt } = conversation
  // The same id of another user, end user, agent or app is another conversation.
  const search = {
    ...rangeAround(lastActivityAt),
    ...{ conversation: conversationId, agent: agentId, app: appId, endUser },
    ...(isAdmin && { user: ownerId }),
  }
  return (
    <Card
      title={t('conversation')}
      aside={
        <Link to="/calls" search={search}>
          {calls('call.otherCalls')}
        </Link>
      }
    >
      <RowFacts
        of="conversations"
        row={conversation}
        facts={[
          [t('clientId'), <CodeWithCopy key="id" text={conversationId} />],
          'agent',
          [calls('call.app'), appId && <code key="app">{appId}</code>],
          'endUser',
          ...(isAdmin ? (['owner'] as const) : []),
          'turns',
          [t('lastOutcome'), <ConversationState key="state" conversation={conversation} />],
          [t('lastActivity'), <Moment key="last" at={lastActivityAt} />],
          [t('createdAt'), <Moment key="created" at={conversation.createdAt} />],
        ]}
      />
    </Card>
  )
}
