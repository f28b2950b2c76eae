import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { type RefusalFilter, RefusalsDocument, RefusalTotalDocument } from '../../generated/graphql.ts'
import { usePageSize } from '../../lists/page-size.ts'
import { PagedList } from '../../lists/paged-list.tsx'
import { graphqlPages, graphqlQuery } from '../../session/queries.ts'
import { Empty } from '../../ui/notice.tsx'
import { RefusalsTable } from './refusals-table.tsx'

interface RefusalsListProps {
  readonly filter: RefusalFilter
}

/** The single refusals that match, page after page. */
export function RefusalsList({ filter }: RefusalsListProps) {
  const t = useTranslations('refusals')
  const first = usePageSize()
  const query = useInfiniteQuery({
    ...graphqlPages(RefusalsDocument, { filter, first }, ({ refusals }) => refusals),
    placeholderData: keepPreviousData,
  })
  return (
    <PagedList
      query={query}
      rowsOf={(page) => page.refusals?.nodes}
      title={<Count filter={filter} />}
      empty={
        <Empty title={t('empty')}>
          <p>{t('emptyHint')}</p>
          <Link to="/refusals" search={{ show: 'counts' }}>
            {t('toCounts')}
          </Link>
        </Empty>
      }
    >
      {(refusals) => <RefusalsTable refusals={refusals} />}
    </PagedList>
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
