import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

const PAGES = { user: '/users/$id', key: '/keys/$id', call: '/calls/$id' } as const

interface RecordLinkProps {
  readonly kind: keyof typeof PAGES | 'agent'
  readonly id: string
  /** What it is called, if that is known. */
  readonly name?: ReactNode
}

/** Leads to the page of something that has one. */
export function RecordLink({ kind, id, name = id }: RecordLinkProps) {
  if (kind === 'agent')
    return (
      <Link to="/agents" search={{ id }}>
        {name}
      </Link>
    )
  return (
    <Link to={PAGES[kind]} params={{ id }}>
      {name}
    </Link>
  )
}
