import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import type { ConversationFieldsFragment } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { RowTable } from '../../lists/row-table.tsx'
import { useSession } from '../../session/use-session.ts'
import { OutcomeBadge } from '../calls/outcome-badge.tsx'

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

/** How the last call of a conversation ended, and whether its run waits for the user. */
export function ConversationState(props: { readonly conversation: ConversationFieldsFragment }) {
  const t = useTranslations('conversations')
  const { lastOutcome, turns, paused } = props.conversation
  // The ledger has no call of it any more.
  if (lastOutcome === null && turns === 0) return '–'
  return (
    <>
      <OutcomeBadge outcome={lastOutcome} />
      {paused && <span className={second}>{t('paused')}</span>}
    </>
  )
}
