import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import type { AuditFieldsFragment } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { RowTable } from '../../lists/row-table.tsx'
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
  const words = useWords()
  return (
    <RowTable
      of="audit"
      label={label}
      rows={events}
      keyOf={({ n }) => n}
      timeOf={({ at }) => at}
      within={['n', 'at', 'actor', 'user', 'key', 'name', 'targetId', 'reason', 'count']}
      columns={{
        time: {
          kind: 'time',
          cell: ({ n, at }) => (
            <Link to="/audit/$n" params={{ n: String(n) }}>
              <Moment at={at} as="time" />
            </Link>
          ),
        },
        operation: ({ operation, count }) => (
          <>
            {words.operation(operation)}
            {count > 1 && <span className={second}>{t('times', { count })}</span>}
          </>
        ),
        result: {
          kind: 'state',
          cell: ({ result, reason }) => (
            <>
              <ResultBadge result={result} />
              {reason !== null && <code className={second}>{reason}</code>}
            </>
          ),
        },
        who: (event) => <Actor event={event} />,
        target: (event) => event.target && <Target event={event} />,
        change: (event) => {
          const changes = changesOf(event)
          return changes.length === 0 ? null : <ChangeLine changes={changes} />
        },
        address: {},
      }}
    />
  )
}
