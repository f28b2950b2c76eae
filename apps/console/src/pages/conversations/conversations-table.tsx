import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { CONVERSATIONS_FIELDS } from '../../generated/fields.ts'
import type { ConversationFieldsFragment } from '../../generated/graphql.ts'
import { RowTable } from '../../lists/row-table.tsx'
import { useSession } from '../../session/use-session.ts'
import { ConversationState } from './conversation-state.tsx'

export function ConversationsTable(props: { readonly conversations: readonly ConversationFieldsFragment[] }) {
  const t = useTranslations('conversations')
  const isAdmin = useSession().role === 'admin'
  const owner = ({ owner: user, ownerId }: ConversationFieldsFragment) =>
    user?.username ?? ownerId.slice(0, 8)
  return (
    <RowTable
      of="conversations"
      rows={props.conversations}
      keyOf={({ id }) => id}
      fields={CONVERSATIONS_FIELDS}
      within={['owner', 'paused']}
      columns={{
        name: ({ id, name, conversationId }) => (
          <Link to="/conversations/$id" params={{ id }} title={name ?? conversationId}>
            {name ?? conversationId}
          </Link>
        ),
        lastOutcome: { kind: 'state', cell: (conversation) => <ConversationState {...{ conversation }} /> },
        agent: ({ agent, agentId }) => agent?.name ?? agentId,
        app: { isExtra: true },
        endUser: {},
        ...(isAdmin && { owner }),
        turns: {},
        lastActivityAt: { head: t('lastActivity') },
        createdAt: { isExtra: true },
      }}
    />
  )
}
