import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl'
import { AuditEventsDocument, type AuditFilter, AuditTotalDocument } from '../../generated/graphql.ts'
import { usePageSize } from '../../lists/page-size.ts'
import { PagedList } from '../../lists/paged-list.tsx'
import { graphqlPages, graphqlQuery } from '../../session/queries.ts'
import { Empty } from '../../ui/notice.tsx'
import { AuditTable } from './audit-table.tsx'

interface AuditListProps {
  readonly filter: AuditFilter
}

/** The events that match, page after page. */
export function AuditList({ filter }: AuditListProps) {
  const t = useTranslations('audit')
  const first = usePageSize()
  const query = useInfiniteQuery({
    ...graphqlPages(AuditEventsDocument, { filter, first }, ({ auditEvents }) => auditEvents),
    placeholderData: keepPreviousData,
  })
  return (
    <PagedList
      query={query}
      rowsOf={(page) => page.auditEvents?.nodes}
      title={<Count filter={filter} />}
      empty={
        <Empty title={t('empty')}>
          <p>{t('emptyHint')}</p>
        </Empty>
      }
    >
      {(events) => <AuditTable events={events} />}
    </PagedList>
  )
}

/** The gateway counts up to this. */
const COUNT_MAX = 10_000

function Count({ filter }: AuditListProps) {
  const t = useTranslations('audit')
  const common = useTranslations('common')
  const { data } = useQuery({
    ...graphqlQuery(AuditTotalDocument, { filter }),
    placeholderData: keepPreviousData,
  })
  const count = data?.auditEvents?.totalCount
  if (count === undefined) return common('loading')
  return count === null ? t('countMany', { max: COUNT_MAX }) : t('count', { count })
}
