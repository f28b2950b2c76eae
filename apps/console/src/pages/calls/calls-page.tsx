import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import type { Times } from '../../filters/range.ts'
import { CountedRefusals } from '../../find/counted-refusals.tsx'
import { findRequest } from '../../find/find-request.ts'
import { useFormats } from '../../format/use-formats.ts'
import {
  CallCountDocument,
  type CallFilter,
  CallsDocument,
  type CallsQuery,
} from '../../generated/graphql.ts'
import { ListPage, useAddress } from '../../lists/list-page.tsx'
import { usePageSize } from '../../lists/page-size.ts'
import { ListCount, listIn, PagedList } from '../../lists/paged-list.tsx'
import { graphqlPages } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Empty, Notice } from '../../ui/notice.tsx'
import { AlsoRefused, useIsRefused } from './also-refused.tsx'
import { CALL_REASONS } from './call-reasons.ts'
import { CALL_RANGE, shownRange } from './calls-range.ts'
import { CALL_CONDITIONS, type CallsSearch, callFilterOf } from './calls-search.ts'
import { CallsTable } from './calls-table.tsx'
import { isRunning } from './stopping/stop-call.ts'

const route = getRouteApi('/shell/calls')

/** The ledger: a user's own calls, for an administrator all. */
export function CallsPage() {
  const t = useTranslations('calls')
  const { role } = useSession()
  const { duration } = useFormats()
  const navigate = route.useNavigate()
  const [search, change] = useAddress(route)
  const { requestId } = search
  const named = { textOf: (name: string) => name || t('without') }
  const least = (ms: string) => `≥ ${duration(Number(ms))}`
  return (
    <ListPage
      of="calls"
      conditions={CALL_CONDITIONS}
      range={CALL_RANGE}
      search={search}
      onChange={(changed) =>
        changed.requestId === undefined
          ? change(changed)
          : void findRequest(changed.requestId).then((found) => navigate(found))
      }
      usual={{ agent: {}, key: {}, user: {}, outcome: {}, requestId: {} }}
      more={{
        conversation: {},
        reason: { options: CALL_REASONS },
        kind: {},
        face: { options: ['REST', 'OPENAI', 'RESPONSES', 'GRAPHQL'] },
        paused: { label: t('pause'), textOf: (paused) => t(`pauses.${paused}`) },
        app: named,
        deployment: named,
        model: named,
        endUser: named,
        firstMs: { label: t('leastFirstMs'), chip: t('firstChunk'), textOf: least },
        ms: { label: t('leastMs'), chip: t('duration'), textOf: least },
        tokens: { label: t('leastTokens'), chip: t('tokens') },
      }}
      lead={t(role === 'admin' ? 'lead' : 'leadOwn')}
    >
      {(filter, now) => (
        <>
          <Bounds search={search} times={filter} now={now} />
          {requestId !== undefined && <AlsoRefused requestId={requestId} />}
          <CallsList
            filter={callFilterOf(filter)}
            isFiltered={Object.values(search).some((value) => value !== undefined)}
            requestId={requestId}
          />
        </>
      )}
    </ListPage>
  )
}

interface BoundsProps {
  readonly search: CallsSearch
  readonly times: Times
  readonly now: Date
}

/** Says where a request or a conversation is looked for. */
function Bounds({ search, times: { from, to }, now }: BoundsProps) {
  const t = useTranslations('calls')
  const { moment } = useFormats()
  if (search.requestId === undefined && search.conversation === undefined) return null
  const isByItsTime = shownRange(search, now) === undefined
  return (
    <Notice tone="info">
      {t(isByItsTime ? 'byItsTime' : 'bounded', { from: moment(from ?? now), to: moment(to ?? now) })}
    </Notice>
  )
}

interface CallsListProps {
  readonly filter: CallFilter
  readonly isFiltered: boolean
  /** The request that is looked for. */
  readonly requestId: string | undefined
}

/** The calls that match, page after page. */
function CallsList({ filter, isFiltered, requestId }: CallsListProps) {
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
