import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../format/use-formats.ts'
import { CountedRefusalsDocument } from '../generated/graphql.ts'
import { graphqlQuery } from '../session/queries.ts'
import { timeOfId } from './request-time.ts'

/** Clocks differ a little before, and a request may wait before it is refused. */
const BEFORE_MS = 60_000
const AFTER_MS = 120_000
/** So long counts are kept. */
const KEPT_MS = 30 * 86_400_000

/**
 * Of a request that is not on record: how many were refused at the time that its id carries, since of most refusals only the
 * count is kept. Always leads to the counts.
 */
export function CountedRefusals({ requestId }: { readonly requestId: string }) {
  const t = useTranslations('search')
  const refusals = useTranslations('refusals')
  const { dateTime, moment } = useFormats()
  const [now] = useState(() => new Date())
  const at = timeOfId(requestId, now)?.getTime()
  const isKept = at !== undefined && at > now.getTime() - KEPT_MS
  const range = isKept && {
    from: new Date(at - BEFORE_MS).toISOString(),
    to: new Date(at + AFTER_MS).toISOString(),
  }
  const { data } = useQuery({
    ...graphqlQuery(CountedRefusalsDocument, { filter: range || {} }),
    enabled: range !== false,
  })
  const total = data?.refusalCounts?.reduce((sum, { count }) => sum + count, 0) ?? 0
  return (
    <>
      {range !== false && total > 0 && (
        <p>{t('counted', { count: total, from: dateTime(range.from), to: moment(range.to) })}</p>
      )}
      <Link to="/refusals" search={{ show: 'counts', ...(total > 0 && range) }}>
        {refusals('toCounts')}
      </Link>
    </>
  )
}
