import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import { AUDIT_FIELDS } from '../../generated/fields.ts'
import type { AuditFieldsFragment } from '../../generated/graphql.ts'
import { ListTable, second } from '../../lists/list-table.tsx'
import { type Drawn, useColumns } from '../../lists/use-columns.tsx'
import { Actor } from './actor.tsx'
import { ChangeLine } from './change-line.tsx'
import { changesOf } from './compare-states.ts'
import { ResultBadge } from './result-badge.tsx'
import { Target } from './target.tsx'
import { useWords } from './words.ts'

interface AuditTableProps {
  readonly label?: string
  readonly events: readonly AuditFieldsFragment[]
}

export function AuditTable({ label, events }: AuditTableProps) {
  const t = useTranslations('audit')
  return (
    <ListTable
      label={label ?? t('list')}
      name="audit"
      columns={useAuditColumns()}
      rows={events}
      keyOf={({ n }) => n}
      timeOf={({ at }) => at}
    />
  )
}

function useAuditColumns() {
  const t = useTranslations('audit')
  const words = useWords()
  const drawn: Drawn<AuditFieldsFragment> = {
    time: {
      head: t('time'),
      kind: 'time',
      cell: ({ n, at }) => (
        <Link to="/audit/$n" params={{ n: String(n) }}>
          <Moment at={at} as="time" />
        </Link>
      ),
    },
    operation: {
      head: t('operation'),
      cell: ({ operation, count }) => (
        <>
          {words.operation(operation)}
          {count > 1 && <span className={second}>{t('times', { count })}</span>}
        </>
      ),
    },
    result: {
      head: t('result'),
      kind: 'state',
      cell: ({ result, reason }) => (
        <>
          <ResultBadge result={result} />
          {reason !== null && <code className={second}>{reason}</code>}
        </>
      ),
    },
    who: { head: t('who'), cell: (event) => <Actor event={event} /> },
    target: { head: t('target'), cell: (event) => event.target && <Target event={event} /> },
    change: {
      head: t('change'),
      cell: (event) => {
        const changes = changesOf(event)
        return changes.length === 0 ? null : <ChangeLine changes={changes} />
      },
    },
    address: { head: t('address'), cell: ({ address }) => address },
  }
  return useColumns('audit', AUDIT_FIELDS, drawn, [
    'n',
    'at',
    'actor',
    'user',
    'key',
    'name',
    'targetId',
    'reason',
    'count',
  ])
}
