import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { UserEventsDocument } from '../../../generated/graphql.ts'
import type { Column } from '../../../lists/column.ts'
import { ListTable } from '../../../lists/list-table.tsx'
import { graphqlQuery } from '../../../session/queries.ts'
import { Card } from '../../../ui/card.tsx'
import { Empty, ErrorNotice, Loading } from '../../../ui/notice.tsx'
import { ResultBadge } from '../../audit/result-badge.tsx'
import { useWords } from '../../audit/words.ts'
import { newestEvents, type UserDetails } from './user-details.ts'

interface UserEventsProps {
  readonly user: Pick<UserDetails, 'id' | 'username'>
}

/** What the user has done and what was done to it, as far as the audit log has it. */
export function UserEvents({ user }: UserEventsProps) {
  const t = useTranslations('users.page')
  const { id } = user
  return (
    <Card
      title={t('events')}
      aside={
        <span>
          <Link to="/audit" search={{ user: id }}>
            {t('allEventsBy')}
          </Link>
          {' · '}
          <Link to="/audit" search={{ target: 'user', targetId: id }}>
            {t('allEventsTo')}
          </Link>
        </span>
      }
      isFlush
    >
      <EventTable user={user} />
    </Card>
  )
}

function EventTable({ user: { id, username } }: UserEventsProps) {
  const t = useTranslations('users.page')
  const audit = useTranslations('audit')
  const formats = useFormats()
  const words = useWords()
  const { data, error, refetch } = useQuery(graphqlQuery(UserEventsDocument, { id, targetId: id }))
  if (data === undefined)
    return error === null ? <Loading lines={4} /> : <ErrorNotice error={error} retry={refetch} />
  const events = newestEvents(data.by?.nodes, data.to?.nodes)
  if (events.length === 0) return <Empty title={t('noEvents')} />
  const columns: Column<(typeof events)[number]>[] = [
    {
      head: t('time'),
      kind: 'time',
      cell: ({ n, at }) => (
        <Link to="/audit/$n" params={{ n: String(n) }}>
          {formats.dateTime(at)}
        </Link>
      ),
    },
    { head: audit('operation'), cell: ({ operation }) => words.operation(operation) },
    { head: audit('result'), cell: ({ result }) => <ResultBadge result={result} /> },
    { head: audit('who'), cell: ({ userId, user, name }) => user?.username ?? userId ?? name },
  ]
  return (
    <ListTable
      label={t('tableOf', { title: t('events'), username })}
      columns={columns}
      rows={events}
      keyOf={({ n }) => String(n)}
    />
  )
}
