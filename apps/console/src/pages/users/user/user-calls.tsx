import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import type { Column } from '../../../lists/column.ts'
import { ListTable } from '../../../lists/list-table.tsx'
import { Card } from '../../../ui/card.tsx'
import { Empty } from '../../../ui/notice.tsx'
import { OutcomeBadge } from '../../calls/outcome-badge.tsx'
import type { UserDetails } from './user-details.ts'

/** The newest calls of the user. */
export function UserCalls({ user }: { readonly user: UserDetails }) {
  const t = useTranslations('users.page')
  const formats = useFormats()
  const calls = user.calls?.nodes ?? []
  const columns: Column<(typeof calls)[number]>[] = [
    {
      head: t('time'),
      kind: 'time',
      cell: ({ id, admittedAt }) => (
        <Link to="/calls/$id" params={{ id }}>
          {formats.dateTime(admittedAt)}
        </Link>
      ),
    },
    { head: t('agent'), cell: ({ agent, agentId }) => agent?.name ?? agentId },
    {
      head: t('outcome'),
      cell: ({ outcome, reason }) => (
        <span>
          <OutcomeBadge outcome={outcome} /> {reason !== null && <code>{reason}</code>}
        </span>
      ),
    },
  ]
  return (
    <Card
      title={t('recentCalls')}
      aside={
        <Link to="/calls" search={{ user: user.id, range: 'all' }}>
          {t('allCalls')}
        </Link>
      }
      isFlush
    >
      {calls.length === 0 ? (
        <Empty title={t('noCalls')} />
      ) : (
        <ListTable
          label={t('tableOf', { title: t('recentCalls'), username: user.username })}
          columns={columns}
          rows={calls}
          keyOf={({ id }) => id}
        />
      )}
    </Card>
  )
}
