import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { Card } from '../../../ui/card.tsx'
import { Empty } from '../../../ui/notice.tsx'
import { Table, time } from '../../../ui/table.tsx'
import { OutcomeBadge } from '../../calls/outcome-badge.tsx'
import type { UserDetails } from './user-details.ts'

/** The newest calls of the user. */
export function UserCalls({ user }: { readonly user: UserDetails }) {
  const t = useTranslations('users.page')
  const formats = useFormats()
  const calls = user.calls?.nodes ?? []
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
        <Table label={t('tableOf', { title: t('recentCalls'), username: user.username })}>
          <thead>
            <tr>
              <th scope="col">{t('time', { zone: formats.zoneName() })}</th>
              <th scope="col">{t('agent')}</th>
              <th scope="col">{t('outcome')}</th>
            </tr>
          </thead>
          <tbody>
            {calls.map(({ id, admittedAt, agent, agentId, outcome, reason }) => (
              <tr key={id}>
                <th scope="row" className={time}>
                  <Link to="/calls/$id" params={{ id }}>
                    {formats.dateTime(admittedAt)}
                  </Link>
                </th>
                <td>{agent?.name ?? agentId}</td>
                <td>
                  <OutcomeBadge outcome={outcome} /> {reason !== null && <code>{reason}</code>}
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  )
}
