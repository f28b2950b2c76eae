import { Link } from '@tanstack/react-router'
import type { AuditFieldsFragment } from '../../generated/graphql.ts'
import styles from './audit.module.css'
import { useWords } from './words.ts'

type Targeted = Pick<AuditFieldsFragment, 'target' | 'targetId'>

/** What it was done to, with the way there where there is one. */
export function Target({ event: { target, targetId } }: { readonly event: Targeted }) {
  const words = useWords()
  if (target === null) return '–'
  return (
    <>
      {words.target(target)}
      {targetId !== null && (
        <span className={styles.id}>
          <TargetLink target={target} id={targetId} />
        </span>
      )}
    </>
  )
}

function TargetLink({ target, id }: { readonly target: string; readonly id: string }) {
  const text = <code>{id}</code>
  switch (target) {
    case 'user':
      return (
        <Link to="/users/$id" params={{ id }}>
          {text}
        </Link>
      )
    case 'api_key':
      return (
        <Link to="/keys/$id" params={{ id }}>
          {text}
        </Link>
      )
    case 'call':
      return (
        <Link to="/calls/$id" params={{ id }}>
          {text}
        </Link>
      )
    case 'audit_event':
      return (
        <Link to="/audit/$n" params={{ n: id }}>
          {text}
        </Link>
      )
    default:
      return text
  }
}
