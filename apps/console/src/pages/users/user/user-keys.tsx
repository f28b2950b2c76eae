import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { Card } from '../../../ui/card.tsx'
import { Empty } from '../../../ui/notice.tsx'
import { numeric, Table, time } from '../../../ui/table.tsx'
import { KeyBadge } from '../../keys/state/key-badge.tsx'
import type { UserDetails } from './user-details.ts'

/** The keys of the user that were used last. */
export function UserKeys({ user }: { readonly user: UserDetails }) {
  const t = useTranslations('users.page')
  const keys = useTranslations('keys')
  const formats = useFormats()
  const { nodes, totalCount } = user.apiKeys ?? { nodes: [], totalCount: 0 }
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
        <Table label={t('tableOf', { title: t('keys'), username: user.username })}>
          <thead>
            <tr>
              <th scope="col">{t('name')}</th>
              <th scope="col">{t('state')}</th>
              <th scope="col" className={numeric}>
                {t('calls')}
              </th>
              <th scope="col">{t('lastUsed', { zone: formats.zoneName() })}</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((key) => (
              <tr key={key.id}>
                <th scope="row">
                  <Link to="/keys/$id" params={{ id: key.id }}>
                    {key.name}
                  </Link>
                </th>
                <td>
                  <KeyBadge apiKey={{ ...key, owner: user }} />
                </td>
                <td className={numeric}>
                  <Link to="/calls" search={{ key: key.id, range: 'all' }}>
                    {formats.count(key.usage.totalCalls)}
                  </Link>
                </td>
                <td className={time}>
                  {key.usage.lastUsedAt === null ? keys('never') : formats.dateTime(key.usage.lastUsedAt)}
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  )
}
