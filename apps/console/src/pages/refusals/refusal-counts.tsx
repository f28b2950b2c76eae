import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTranslations } from 'use-intl'
import { type RefusalCountFilter, RefusalCountsDocument } from '../../generated/graphql.ts'
import { reportZone } from '../../report/zone.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { ManyChoices } from '../../ui/fields/many-choices.tsx'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { bucketsOf } from './count-buckets.ts'
import { refusalsLink } from './count-groups.ts'
import { CountsView } from './counts-view.tsx'
import styles from './refusals.module.css'
import { GROUPS, groupsOf, type RefusalsSearch } from './refusals-search.ts'

interface RefusalCountsProps {
  readonly filter: RefusalCountFilter
  readonly search: RefusalsSearch
  readonly now: Date
  onGroup(by: string): void
}

/** How many requests were refused, by hour or day: who is throttled, by what, and since when. */
export function RefusalCounts({ filter, search, now, onGroup }: RefusalCountsProps) {
  const t = useTranslations('refusals')
  const { role } = useSession()
  const [{ zone }] = useState(reportZone)
  const buckets = useMemo(() => bucketsOf(filter, now, zone), [filter, now, zone])
  const groups = useMemo(() => groupsOf(search.by), [search.by])
  const linkTo = useMemo(() => refusalsLink(search, now), [search, now])
  // From the start of the first bucket: what is older is not kept.
  const range = { from: buckets.starts[0] ?? buckets.end, to: buckets.end }
  const query = useQuery({
    ...graphqlQuery(RefusalCountsDocument, {
      filter: { ...filter, ...range },
      per: buckets.granularity,
      timezone: zone,
    }),
    placeholderData: keepPreviousData,
  })
  const { data, error, refetch, isPlaceholderData } = query
  const rows = data?.refusalCounts ?? undefined
  return (
    <>
      <div className={styles.groups}>
        <span className={styles.label} aria-hidden="true">
          {t('groupBy')}
        </span>
        <ManyChoices
          label={t('groupBy')}
          values={groups}
          // All refusals of a user are its own.
          options={GROUPS.filter((group) => role === 'admin' || group !== 'user').map((value) => ({
            value,
            label: t(`groups.${value}`),
          }))}
          onChange={(chosen) => onGroup(chosen.length === 0 ? 'none' : chosen.join(','))}
        />
      </div>
      {error !== null && <ErrorNotice error={error} retry={refetch} />}
      {error === null && rows === undefined && <Loading shape="chart" />}
      {error === null && rows?.length === 0 && (
        <Card>
          <Empty title={t('noneCounted')}>
            <p>{t('noneCountedHint')}</p>
            <p>{t('missingHint')}</p>
          </Empty>
        </Card>
      )}
      {error === null && rows !== undefined && rows.length > 0 && (
        <div className={styles.column} aria-busy={isPlaceholderData}>
          <CountsView {...{ rows, groups, buckets, linkTo }} />
        </div>
      )}
    </>
  )
}
