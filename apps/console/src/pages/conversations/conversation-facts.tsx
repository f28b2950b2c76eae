import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { useFormats } from '../../format/use-formats.ts'
import type { ConversationFieldsFragment } from '../../generated/graphql.ts'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import { rangeAround } from '../calls/calls-range.ts'
import { ConversationState } from './conversation-state.tsx'

/** What is known of a conversation, with the ways to its agent, its owner and its calls. */
export function ConversationFacts(props: { readonly conversation: ConversationFieldsFragment }) {
  const t = useTranslations('conversations')
  const calls = useTranslations('calls')
  const { count } = useFormats()
  const isAdmin = useSession().role === 'admin'
  const { conversation } = props
  const { conversationId, agent, agentId, appId, owner, ownerId, endUser, lastActivityAt } = conversation
  const agentLink = (
    <Link to="/agents" search={{ id: agentId }}>
      {agent?.name ?? agentId}
    </Link>
  )
  const ownerLink = isAdmin && (
    <Link to="/users/$id" params={{ id: ownerId }}>
      {owner?.username ?? ownerId}
    </Link>
  )
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
      <Facts
        facts={[
          [t('clientId'), <CodeWithCopy key="id" text={conversationId} />],
          [calls('agent'), agentLink],
          [calls('call.app'), appId === '' ? null : <code key="app">{appId}</code>],
          [calls('call.endUser'), endUser || null],
          [calls('call.owner'), ownerLink],
          [t('turns'), count(conversation.turns)],
          [t('lastOutcome'), <ConversationState key="state" conversation={conversation} />],
          [t('lastActivity'), <Moment key="last" at={lastActivityAt} />],
          [t('createdAt'), <Moment key="created" at={conversation.createdAt} />],
        ]}
      />
    </Card>
  )
}
