import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { UserRefusalsDocument } from '../../../generated/graphql.ts'
import type { Column } from '../../../lists/column.ts'
import { ListTable } from '../../../lists/list-table.tsx'
import { graphqlQuery } from '../../../session/queries.ts'
import { Card } from '../../../ui/card.tsx'
import { Empty, ErrorNotice, Loading } from '../../../ui/notice.tsx'
import { StatusBadge } from '../../refusals/status-badge.tsx'
import type { UserDetails } from './user-details.ts'

interface UserRefusalsProps {
  readonly user: Pick<UserDetails, 'id' | 'username'>
}

/** The newest requests of the user that were refused. */
export function UserRefusals({ user }: UserRefusalsProps) {
  const t = useTranslations('users.page')
  return (
    <Card
      title={t('recentRefusals')}
      aside={
        <Link to="/refusals" search={{ user: user.id }}>
          {t('allRefusals')}
        </Link>
      }
      isFlush
    >
      <RefusalTable user={user} />
    </Card>
  )
}

function RefusalTable({ user: { id, username } }: UserRefusalsProps) {
  const t = useTranslations('users.page')
  const formats = useFormats()
  const { data, error, refetch } = useQuery(graphqlQuery(UserRefusalsDocument, { id }))
  if (data === undefined)
    return error === null ? <Loading lines={4} /> : <ErrorNotice error={error} retry={refetch} />
  const refusals = data.refusals?.nodes ?? []
  if (refusals.length === 0) return <Empty title={t('noRefusals')} />
  const columns: Column<(typeof refusals)[number]>[] = [
    {
      head: t('time'),
      kind: 'time',
      cell: (refusal) => (
        <Link to="/refusals/$requestId" params={{ requestId: refusal.requestId }} search={{ id: refusal.id }}>
          {formats.dateTime(refusal.at)}
        </Link>
      ),
    },
    {
      head: t('reason'),
      cell: ({ status, reason }) => (
        <span>
          <StatusBadge status={status} /> <code>{reason}</code>
        </span>
      ),
    },
    { head: t('request'), cell: ({ route }) => <code>{route}</code> },
  ]
  return (
    <ListTable
      label={t('tableOf', { title: t('recentRefusals'), username })}
      columns={columns}
      rows={refusals}
      keyOf={({ id }) => id}
    />
  )
}
