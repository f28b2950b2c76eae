import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { type RefusalFilter, RefusalsDocument, RefusalTotalDocument } from '../../generated/graphql.ts'
import { graphqlPages, graphqlQuery } from '../../session/queries.ts'
import { Waiting } from '../../session/waiting.tsx'
import { Card } from '../../ui/card.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { RefusalsTable } from './refusals-table.tsx'

interface RefusalsListProps {
  readonly filter: RefusalFilter
}

/** The single refusals that match, page after page. */
export function RefusalsList({ filter }: RefusalsListProps) {
  const t = useTranslations('refusals')
  const query = useInfiniteQuery({
    ...graphqlPages(RefusalsDocument, { filter }, ({ refusals }) => refusals),
    placeholderData: keepPreviousData,
  })
  const { data, error, refetch, isPlaceholderData } = query
  const waiting = <Waiting queries={[query]} />
  if (error !== null && (data === undefined || isPlaceholderData))
    return <ErrorNotice error={error} retry={refetch} />
  if (data === undefined)
    return (
      <>
        {waiting}
        <Loading lines={8} />
      </>
    )
  const refusals = data.pages.flatMap((page) => page.refusals?.nodes ?? [])
  return (
    <>
      {waiting}
      <Card title={<Count filter={filter} />} isFlush>
        {refusals.length === 0 ? (
          <Empty title={t('empty')}>
            <p>{t('emptyHint')}</p>
            <Link to="/refusals" search={{ show: 'counts' }}>
              {t('toCounts')}
            </Link>
          </Empty>
        ) : (
          <div aria-busy={isPlaceholderData}>
            <RefusalsTable refusals={refusals} />
          </div>
        )}
        <LoadMore query={query} />
      </Card>
    </>
  )
}

/** The gateway counts up to this. */
const COUNT_MAX = 10_000

function Count({ filter }: RefusalsListProps) {
  const t = useTranslations('refusals')
  const common = useTranslations('common')
  const { data } = useQuery({
    ...graphqlQuery(RefusalTotalDocument, { filter }),
    placeholderData: keepPreviousData,
  })
  const count = data?.refusals?.totalCount
  if (count === undefined) return common('loading')
  return count === null ? t('countMany', { max: COUNT_MAX }) : t('count', { count })
}
