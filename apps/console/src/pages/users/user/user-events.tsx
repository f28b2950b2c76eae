import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { UserEventsDocument } from '../../../generated/graphql.ts'
import { graphqlQuery } from '../../../session/queries.ts'
import { Card } from '../../../ui/card.tsx'
import { Empty, ErrorNotice, Loading } from '../../../ui/notice.tsx'
import { Table, time } from '../../../ui/table.tsx'
import { ResultBadge } from '../../audit/result-badge.tsx'
import { useWords } from '../../audit/words.ts'
import styles from './user.module.css'
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
  return (
    <Table label={t('tableOf', { title: t('events'), username })}>
      <thead>
        <tr>
          <th scope="col">{t('time', { zone: formats.zoneName() })}</th>
          <th scope="col">{audit('operation')}</th>
          <th scope="col">{audit('result')}</th>
          <th scope="col">{audit('who')}</th>
        </tr>
      </thead>
      <tbody>
        {events.map(({ n, at, operation, result, userId, user, name }) => (
          <tr key={n}>
            <th scope="row" className={time}>
              <Link to="/audit/$n" params={{ n: String(n) }}>
                {formats.dateTime(at)}
              </Link>
            </th>
            <td className={styles.operation}>{words.operation(operation)}</td>
            <td>
              <ResultBadge result={result} />
            </td>
            <td>{user?.username ?? userId ?? name ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}
