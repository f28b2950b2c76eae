import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { AuditFieldsFragment } from '../../generated/graphql.ts'
import { Table, time } from '../../ui/table.tsx'
import { Actor } from './actor.tsx'
import styles from './audit.module.css'
import { ResultBadge } from './result-badge.tsx'
import { Target } from './target.tsx'
import { useWords } from './words.ts'

export function AuditTable({ events }: { readonly events: readonly AuditFieldsFragment[] }) {
  const t = useTranslations('audit')
  return (
    <Table label={t('list')}>
      <thead>
        <tr>
          <th scope="col">{t('time')}</th>
          <th scope="col">{t('operation')}</th>
          <th scope="col">{t('result')}</th>
          <th scope="col">{t('who')}</th>
          <th scope="col">{t('target')}</th>
          <th scope="col">{t('address')}</th>
        </tr>
      </thead>
      <tbody>
        {events.map((event) => (
          <EventRow key={event.n} event={event} />
        ))}
      </tbody>
    </Table>
  )
}

function EventRow({ event }: { readonly event: AuditFieldsFragment }) {
  const t = useTranslations('audit')
  const { dateTime } = useFormats()
  const words = useWords()
  const { n, at, operation, result, reason, count, address } = event
  return (
    <tr>
      <th scope="row" className={time}>
        <Link to="/audit/$n" params={{ n: String(n) }}>
          {dateTime(at)}
        </Link>
      </th>
      <td>
        {words.operation(operation)}
        {count > 1 && <span className={styles.second}>{t('times', { count })}</span>}
      </td>
      <td>
        <ResultBadge result={result} />
        {reason !== null && <code className={styles.second}>{reason}</code>}
      </td>
      <td>
        <Actor event={event} />
      </td>
      <td>
        <Target event={event} />
      </td>
      <td>{address ?? '–'}</td>
    </tr>
  )
}
