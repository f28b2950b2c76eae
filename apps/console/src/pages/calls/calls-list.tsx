import { useInfiniteQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl'
import { CountedRefusals } from '../../find/counted-refusals.tsx'
import {
  CallCountDocument,
  type CallFilter,
  CallsDocument,
  type CallsQuery,
} from '../../generated/graphql.ts'
import { usePageSize } from '../../lists/page-size.ts'
import { ListCount, listIn, PagedList } from '../../lists/paged-list.tsx'
import { graphqlPages } from '../../session/queries.ts'
import { Empty } from '../../ui/notice.tsx'
import { useIsRefused } from './also-refused.tsx'
import { CallsTable } from './calls-table.tsx'
import { isRunning } from './stopping/stop-call.ts'

interface CallsListProps {
  readonly filter: CallFilter
  readonly isFiltered: boolean
  /** The request that is looked for. */
  readonly requestId: string | undefined
}

/** The calls that match, page after page. */
export function CallsList({ filter, isFiltered, requestId }: CallsListProps) {
  const [first] = usePageSize()
  const query = useInfiniteQuery({
    ...graphqlPages(CallsDocument, { filter, first }, listIn),
    refetchInterval: ({ state: { data } }) => followMs(data?.pages ?? []),
  })
  return (
    <PagedList
      of="calls"
      query={query}
      title={<ListCount of="calls" document={CallCountDocument} variables={{ filter }} />}
      empty={<NoCalls isFiltered={isFiltered} requestId={requestId} />}
    >
      {(calls) => <CallsTable calls={calls} />}
    </PagedList>
  )
}

/** Calls that run are read again until they have ended, the rarer the more pages are read. */
const FOLLOW_PAGE_MS = 5_000

function followMs(pages: readonly CallsQuery[]): number | false {
  const isFollowed = pages.some(({ calls }) => calls?.nodes.some(isRunning))
  return isFollowed && FOLLOW_PAGE_MS * pages.length
}

/** Why there are none. */
function NoCalls({ isFiltered, requestId }: Pick<CallsListProps, 'isFiltered' | 'requestId'>) {
  const t = useTranslations('calls')
  if (requestId !== undefined) return <NoCallsOfRequest requestId={requestId} />
  return (
    <Empty title={t(isFiltered ? 'empty' : 'none')}>
      <p>{t(isFiltered ? 'emptyHint' : 'noneHint')}</p>
    </Empty>
  )
}

/** A request that was refused has no call; its refusal may be on record by itself, or only as a part of a count. */
function NoCallsOfRequest({ requestId }: { readonly requestId: string }) {
  const t = useTranslations('calls')
  const isRefused = useIsRefused(requestId)
  if (isRefused === true) return <Empty title={t('empty')} />
  return (
    <Empty title={t(isRefused === false ? 'requestUnknown' : 'empty')}>
      {isRefused === false && <p>{t('requestHint')}</p>}
      <CountedRefusals requestId={requestId} />
    </Empty>
  )
}
