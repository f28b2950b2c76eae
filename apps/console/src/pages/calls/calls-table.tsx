import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { CallFieldsFragment } from '../../generated/graphql.ts'
import { useSession } from '../../session/use-session.ts'
import { numeric, Table, time } from '../../ui/table.tsx'
import styles from './calls.module.css'
import { OutcomeBadge } from './outcome-badge.tsx'

export function CallsTable({ calls }: { readonly calls: readonly CallFieldsFragment[] }) {
  const t = useTranslations('calls')
  const showsUser = useSession().role === 'admin'
  return (
    <Table label={t('list')}>
      <thead>
        <tr>
          <th scope="col">{t('time')}</th>
          <th scope="col">{t('agent')}</th>
          <th scope="col">{t('outcome')}</th>
          <th scope="col">{t('key')}</th>
          {showsUser && <th scope="col">{t('user')}</th>}
          <th scope="col" className={numeric}>
            {t('tokens')}
          </th>
          <th scope="col" className={numeric}>
            {t('firstChunk')}
          </th>
          <th scope="col" className={numeric}>
            {t('duration')}
          </th>
        </tr>
      </thead>
      <tbody>
        {calls.map((call) => (
          <CallRow key={call.id} call={call} showsUser={showsUser} />
        ))}
      </tbody>
    </Table>
  )
}

interface CallRowProps {
  readonly call: CallFieldsFragment
  readonly showsUser: boolean
}

/** The agent's id stands in where the agent is not configured any more. */
function CallRow({ call, showsUser }: CallRowProps) {
  const t = useTranslations('calls')
  const formats = useFormats()
  const ms = (value: number | null) => (value === null ? '–' : formats.duration(value))
  return (
    <tr>
      <th scope="row" className={time}>
        <Link to="/calls/$id" params={{ id: call.id }}>
          {formats.dateTime(call.admittedAt)}
        </Link>
      </th>
      <td>
        {call.agent?.name ?? call.agentId}
        {call.appId !== '' && <span className={styles.second}>{call.appId}</span>}
        {call.kind === 'UPLOAD' && <span className={styles.second}>{t('call.kinds.UPLOAD')}</span>}
      </td>
      <td>
        <OutcomeBadge outcome={call.outcome} />
        {call.reason !== null && <code className={styles.second}>{call.reason}</code>}
      </td>
      <td>{call.key?.name ?? '–'}</td>
      {showsUser && <td>{call.owner?.username ?? '–'}</td>}
      <td className={numeric}>{call.totalTokens === null ? '–' : formats.count(call.totalTokens)}</td>
      <td className={numeric}>{ms(call.firstChunkMs)}</td>
      <td className={numeric}>{ms(call.durationMs)}</td>
    </tr>
  )
}
