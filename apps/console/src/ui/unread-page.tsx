import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorNotice, Loading } from './notice.tsx'
import { Page } from './page.tsx'

interface UnreadPageProps {
  readonly title: string
  readonly lead?: ReactNode
  readonly query: Pick<UseQueryResult, 'error' | 'refetch'>
}

/** The page of something that is still being read, or cannot be. */
export function UnreadPage({ query: { error, refetch }, ...page }: UnreadPageProps) {
  return <Page {...page}>{error === null ? <Loading /> : <ErrorNotice error={error} retry={refetch} />}</Page>
}
