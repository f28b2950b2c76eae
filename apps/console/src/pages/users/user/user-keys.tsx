import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import type { Column } from '../../../lists/column.ts'
import { ListTable } from '../../../lists/list-table.tsx'
import { Card } from '../../../ui/card.tsx'
import { Empty } from '../../../ui/notice.tsx'
import { KeyBadge } from '../../keys/state/key-badge.tsx'
import type { UserDetails } from './user-details.ts'

/** The keys of the user that were used last. */
export function UserKeys({ user }: { readonly user: UserDetails }) {
  const t = useTranslations('users.page')
  const keys = useTranslations('keys')
  const formats = useFormats()
  const { nodes, totalCount } = user.apiKeys ?? { nodes: [], totalCount: 0 }
  const columns: Column<(typeof nodes)[number]>[] = [
    {
      head: t('name'),
      cell: ({ id, name }) => (
        <Link to="/keys/$id" params={{ id }}>
          {name}
        </Link>
      ),
    },
    { head: t('state'), cell: (key) => <KeyBadge apiKey={{ ...key, owner: user }} /> },
    {
      head: t('calls'),
      kind: 'numeric',
      cell: ({ id, usage }) => (
        <Link to="/calls" search={{ key: id, range: 'all' }}>
          {formats.count(usage.totalCalls)}
        </Link>
      ),
    },
    {
      head: t('lastUsed'),
      kind: 'time',
      cell: ({ usage }) => (usage.lastUsedAt === null ? keys('never') : formats.dateTime(usage.lastUsedAt)),
    },
  ]
  return (
    <Card
      title={t('keys')}
      aside={
        <Link to="/keys" search={{ owner: user.id, state: 'all' }}>
          {t('allKeys', { count: totalCount })}
        </Link>
      }
      isFlush
    >
      {nodes.length === 0 ? (
        <Empty title={t('noKeys')} />
      ) : (
        <ListTable
          label={t('tableOf', { title: t('keys'), username: user.username })}
          columns={columns}
          rows={nodes}
          keyOf={({ id }) => id}
        />
      )}
    </Card>
  )
}
