import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { OverviewBeforeDocument, OverviewDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { addLive, type LiveUsage } from './live-totals.ts'
import { type OverviewRange, overviewQueries } from './overview-range.ts'
import { useLiveUsage } from './use-live-usage.ts'

/** Live counts are exact at once; the rest of a report is read again at most this often, as each reading counts. */
const REREAD_MS = 15_000
/** How often reports are read where live usage is not to be had. */
const POLL_MS = 60_000

/** The reports of the overview, kept up to date by live usage once the page is `isShown`. */
export function useOverview(range: OverviewRange, zone: string, isShown: boolean) {
  const { report: variables, before: variablesBefore } = overviewQueries(range, zone, new Date())
  const { usage: live, state } = useLiveUsage(isShown)
  const report = useQuery({
    ...graphqlQuery(OverviewDocument, variables),
    refetchInterval: state === 'lost' ? POLL_MS : false,
    refetchOnWindowFocus: true,
    placeholderData: keepPreviousData,
  })
  const before = useQuery({ ...graphqlQuery(OverviewBeforeDocument, variablesBefore), staleTime: 3_600_000 })
  const base = useLiveBase(live, report)
  const usage = report.data?.usage
  return {
    report,
    before,
    live,
    liveState: state,
    usage: usage && {
      ...usage,
      totals: addLive(usage.totals, base, live),
      quota: live?.quota ?? usage.quota,
    },
    reportBefore: before.data?.usage,
  }
}

interface Rereadable {
  readonly dataUpdatedAt: number
  readonly isFetching: boolean
  refetch(): unknown
}

/** The live usage of the time when the report was read. Reads the report again after live usage has changed. */
function useLiveBase(live: LiveUsage | undefined, report: Rereadable): LiveUsage | undefined {
  const { dataUpdatedAt, isFetching, refetch } = report
  const [base, setBase] = useState<{ readAt: number; live: LiveUsage | undefined }>()
  // What was live when the last reading began: what came after it may be missing in the report.
  const [read, setRead] = useState<LiveUsage>()
  if (base?.readAt !== dataUpdatedAt || (base.live === undefined && live !== undefined)) {
    setBase({ readAt: dataUpdatedAt, live })
  }
  useEffect(() => {
    if (live === undefined || live === read || isFetching) return
    const timer = setTimeout(
      () => {
        setRead(live)
        void refetch()
      },
      Math.max(0, dataUpdatedAt + REREAD_MS - Date.now()),
    )
    return () => clearTimeout(timer)
  }, [live, read, isFetching, dataUpdatedAt, refetch])
  return base?.live
}
