import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { AuditFieldsFragment } from '../../generated/graphql.ts'
import type { Column } from '../../lists/column.ts'
import { ListTable, second } from '../../lists/list-table.tsx'
import { Actor } from './actor.tsx'
import { ChangeLine } from './change-line.tsx'
import { changesOf } from './compare-states.ts'
import { ResultBadge } from './result-badge.tsx'
import { Target } from './target.tsx'
import { useWords } from './words.ts'

export function AuditTable({ events }: { readonly events: readonly AuditFieldsFragment[] }) {
  const t = useTranslations('audit')
  return <ListTable label={t('list')} columns={useColumns()} rows={events} keyOf={({ n }) => n} />
}

function useColumns(): readonly Column<AuditFieldsFragment>[] {
  const t = useTranslations('audit')
  const { dateTime } = useFormats()
  const words = useWords()
  return [
    {
      head: t('time'),
      kind: 'time',
      cell: ({ n, at }) => (
        <Link to="/audit/$n" params={{ n: String(n) }}>
          {dateTime(at)}
        </Link>
      ),
    },
    {
      head: t('operation'),
      cell: ({ operation, count }) => (
        <>
          {words.operation(operation)}
          {count > 1 && <span className={second}>{t('times', { count })}</span>}
        </>
      ),
    },
    {
      head: t('result'),
      cell: ({ result, reason }) => (
        <>
          <ResultBadge result={result} />
          {reason !== null && <code className={second}>{reason}</code>}
        </>
      ),
    },
    { head: t('who'), cell: (event) => <Actor event={event} /> },
    { head: t('target'), cell: (event) => (event.target === null ? null : <Target event={event} />) },
    {
      head: t('change'),
      cell: (event) => {
        const changes = changesOf(event)
        return changes.length === 0 ? null : <ChangeLine changes={changes} />
      },
    },
    { head: t('address'), cell: ({ address }) => address },
  ]
}
