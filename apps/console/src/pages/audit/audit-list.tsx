import { useInfiniteQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl'
import { AuditEventsDocument, type AuditFilter, AuditTotalDocument } from '../../generated/graphql.ts'
import { ListCount } from '../../lists/list-count.tsx'
import { usePageSize } from '../../lists/page-size.ts'
import { PagedList } from '../../lists/paged-list.tsx'
import { graphqlPages } from '../../session/queries.ts'
import { Empty } from '../../ui/notice.tsx'
import { AuditTable } from './audit-table.tsx'

interface AuditListProps {
  readonly filter: AuditFilter
}

/** The events that match, page after page. */
export function AuditList({ filter }: AuditListProps) {
  const t = useTranslations('audit')
  const [first] = usePageSize()
  const query = useInfiniteQuery(
    graphqlPages(AuditEventsDocument, { filter, first }, ({ auditEvents }) => auditEvents),
  )
  return (
    <PagedList
      query={query}
      rowsOf={(page) => page.auditEvents?.nodes}
      title={
        <ListCount
          of="audit"
          document={AuditTotalDocument}
          variables={{ filter }}
          countOf={({ auditEvents }) => auditEvents?.totalCount}
        />
      }
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
