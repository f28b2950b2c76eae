import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { type RefusalFilter, RefusalsDocument, RefusalTotalDocument } from '../../generated/graphql.ts'
import { ListCount } from '../../lists/list-count.tsx'
import { usePageSize } from '../../lists/page-size.ts'
import { PagedList } from '../../lists/paged-list.tsx'
import { graphqlPages } from '../../session/queries.ts'
import { Empty } from '../../ui/notice.tsx'
import { RefusalsTable } from './refusals-table.tsx'

interface RefusalsListProps {
  readonly filter: RefusalFilter
}

/** The single refusals that match, page after page. */
export function RefusalsList({ filter }: RefusalsListProps) {
  const t = useTranslations('refusals')
  const [first] = usePageSize()
  const query = useInfiniteQuery(
    graphqlPages(RefusalsDocument, { filter, first }, ({ refusals }) => refusals),
  )
  return (
    <PagedList
      query={query}
      rowsOf={(page) => page.refusals?.nodes}
      title={
        <ListCount
          of="refusals"
          document={RefusalTotalDocument}
          variables={{ filter }}
          countOf={({ refusals }) => refusals?.totalCount}
        />
      }
      empty={
        <Empty title={t('empty')}>
          <p>{t('emptyHint')}</p>
          <p>{t('missingHint')}</p>
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
