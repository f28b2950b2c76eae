import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { useFormats } from '../../format/use-formats.ts'
import { CONVERSATIONS_FIELDS } from '../../generated/fields.ts'
import type { ConversationFieldsFragment } from '../../generated/graphql.ts'
import { ListTable } from '../../lists/list-table.tsx'
import { type Drawn, useColumns } from '../../lists/use-columns.tsx'
import { useSession } from '../../session/use-session.ts'
import { ConversationState } from './conversation-state.tsx'

export function ConversationsTable(props: { readonly conversations: readonly ConversationFieldsFragment[] }) {
  const t = useTranslations('conversations')
  const columns = useConversationColumns()
  return (
    <ListTable
      label={t('title')}
      name="conversations"
      columns={columns}
      rows={props.conversations}
      keyOf={({ id }) => id}
    />
  )
}

function useConversationColumns() {
  const t = useTranslations('conversations')
  const calls = useTranslations('calls')
  const { count } = useFormats()
  const { role } = useSession()
  const drawn: Drawn<ConversationFieldsFragment> = {
    name: {
      head: t('name'),
      cell: ({ id, name, conversationId }) => (
        <Link to="/conversations/$id" params={{ id }} title={name ?? conversationId}>
          {name ?? conversationId}
        </Link>
      ),
    },
    outcome: {
      head: t('lastOutcome'),
      kind: 'state',
      cell: (conversation) => <ConversationState {...{ conversation }} />,
    },
    agent: { head: calls('agent'), cell: ({ agent, agentId }) => agent?.name ?? agentId },
    app: { isExtra: true, head: calls('call.app'), cell: ({ appId }) => appId || null },
    endUser: { head: calls('call.endUser'), cell: ({ endUser }) => endUser || null },
    ...(role === 'admin' && {
      owner: {
        head: calls('call.owner'),
        cell: ({ owner, ownerId }: ConversationFieldsFragment) => owner?.username ?? ownerId.slice(0, 8),
      },
    }),
    turns: { head: t('turns'), kind: 'numeric', cell: ({ turns }) => count(turns) },
    lastActivity: {
      head: t('lastActivity'),
      kind: 'time',
      cell: ({ lastActivityAt }) => <Moment at={lastActivityAt} />,
    },
    createdAt: {
      isExtra: true,
      head: t('createdAt'),
      kind: 'time',
      cell: ({ createdAt }) => <Moment at={createdAt} />,
    },
  }
  return useColumns('conversations', CONVERSATIONS_FIELDS, drawn, [
    'owner',
    'lastOutcome',
    'paused',
    'lastActivityAt',
  ])
}
