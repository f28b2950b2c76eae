import { Link } from '@tanstack/react-router'
import type { AuditFieldsFragment } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { RecordLink } from '../../lists/record-link.tsx'
import { useAuditNames } from './audit-names.ts'
import { useWords } from './words.ts'

type Targeted = Pick<AuditFieldsFragment, 'target' | 'targetId' | 'before' | 'after'>

/** What it was done to, with the way there where there is one. */
export function Target({ event }: { readonly event: Targeted }) {
  const words = useWords()
  const names = useAuditNames()
  const { target, targetId } = event
  if (target === null) return '–'
  return (
    <>
      {words.target(target)}
      {targetId !== null && (
        <span className={second}>
          <TargetLink target={target} id={targetId} name={names.target(event)} />
        </span>
      )}
    </>
  )
}

interface TargetLinkProps {
  readonly target: string
  readonly id: string
  readonly name: string | undefined
}

function TargetLink({ target, id, name }: TargetLinkProps) {
  const text = name === undefined ? <code>{id}</code> : <span title={id}>{name}</span>
  if (target === 'audit_event')
    return (
      <Link to="/audit/$n" params={{ n: id }}>
        {text}
      </Link>
    )
  const kind = KINDS[target]
  return kind === undefined ? text : <RecordLink kind={kind} id={id} name={text} />
}

/** What has a page. */
const KINDS: Readonly<Record<string, 'user' | 'key' | 'call'>> = {
  user: 'user',
  api_key: 'key',
  call: 'call',
}
