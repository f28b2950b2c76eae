import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Moment } from '../../format/moment.tsx'
import type { AuditFieldsFragment } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { RecordLink } from '../../lists/record-link.tsx'
import { RowTable } from '../../lists/row-table.tsx'
import styles from './audit.module.css'
import { useAuditNames } from './audit-names.ts'
import { type ComparedField, changesOf } from './compare-states.ts'
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

/** Who did it, with the ways to the user and the key. */
function Actor({ event }: { readonly event: AuditFieldsFragment }) {
  const words = useWords()
  const { actor, userId, user, keyId, key, name } = event
  return (
    <>
      {userId === null ? (
        (name ?? words.actor(actor))
      ) : (
        <RecordLink kind="user" id={userId} name={user?.username} />
      )}
      {keyId !== null && (
        <span className={second}>
          <RecordLink kind="key" id={keyId} name={key?.name} />
        </span>
      )}
      {keyId === null && (userId !== null || name !== null) && (
        <span className={second}>{words.actor(actor)}</span>
      )}
    </>
  )
}

/** Beyond these, the page of the event has them. */
const SHOWN = 3

/** What an event has changed, each field in one line. */
function ChangeLine({ changes }: { readonly changes: readonly ComparedField[] }) {
  const t = useTranslations('audit')
  const names = useAuditNames()
  return (
    <>
      {changes.slice(0, SHOWN).map(({ name, before, after }) => {
        const text = `${names.value(name, before)} → ${names.value(name, after)}`
        return (
          <span key={name} className={styles.change} title={`${name}: ${text}`}>
            <code>{name}</code> {text}
          </span>
        )
      })}
      {changes.length > SHOWN && (
        <span className={second}>{t('moreChanges', { count: changes.length - SHOWN })}</span>
      )}
    </>
  )
}
