import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { RefusalFieldsFragment } from '../../generated/graphql.ts'
import { useSession } from '../../session/use-session.ts'
import { Table, time } from '../../ui/table.tsx'
import { useLimitName } from './limit-name.ts'
import styles from './refusals.module.css'
import { StatusBadge } from './status-badge.tsx'

export function RefusalsTable({ refusals }: { readonly refusals: readonly RefusalFieldsFragment[] }) {
  const t = useTranslations('refusals')
  const showsUser = useSession().role === 'admin'
  return (
    <Table label={t('list')}>
      <thead>
        <tr>
          <th scope="col">{t('time')}</th>
          <th scope="col">{t('status')}</th>
          <th scope="col">{t('reason')}</th>
          <th scope="col">{t('request')}</th>
          <th scope="col">{t('agent')}</th>
          <th scope="col">{t('key')}</th>
          {showsUser && <th scope="col">{t('user')}</th>}
        </tr>
      </thead>
      <tbody>
        {refusals.map((refusal) => (
          <RefusalRow key={refusal.id} refusal={refusal} showsUser={showsUser} />
        ))}
      </tbody>
    </Table>
  )
}

interface RefusalRowProps {
  readonly refusal: RefusalFieldsFragment
  readonly showsUser: boolean
}

function RefusalRow({ refusal, showsUser }: RefusalRowProps) {
  const t = useTranslations('refusals')
  const { dateTime } = useFormats()
  const limitName = useLimitName()
  const { id, requestId, at, status, reason, limit, field, route, agent, agentId, key, keyId, owner } =
    refusal
  return (
    <tr>
      <th scope="row" className={time}>
        <Link to="/refusals/$requestId" params={{ requestId }} search={{ id }}>
          {dateTime(at)}
        </Link>
      </th>
      <td>
        <StatusBadge status={status} />
      </td>
      <td>
        <code>{reason}</code>
        {limit !== '' && <span className={styles.second}>{limitName(limit)}</span>}
        {field !== null && (
          <span className={styles.second}>
            {t('atField')} <code>{field}</code>
          </span>
        )}
      </td>
      <td>
        <code>{route}</code>
      </td>
      <td>{agent?.name ?? (agentId === '' ? '–' : agentId)}</td>
      <td>{keyId === null ? t('token') : (key?.name ?? '–')}</td>
      {showsUser && <td>{owner?.username ?? '–'}</td>}
    </tr>
  )
}
