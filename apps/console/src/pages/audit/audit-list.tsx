import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl'
import { AuditEventsDocument, type AuditFilter, AuditTotalDocument } from '../../generated/graphql.ts'
import { graphqlPages, graphqlQuery } from '../../session/queries.ts'
import { Waiting } from '../../session/waiting.tsx'
import { Card } from '../../ui/card.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { AuditTable } from './audit-table.tsx'

interface AuditListProps {
  readonly filter: AuditFilter
}

/** The events that match, page after page. */
export function AuditList({ filter }: AuditListProps) {
  const t = useTranslations('audit')
  const query = useInfiniteQuery({
    ...graphqlPages(AuditEventsDocument, { filter }, ({ auditEvents }) => auditEvents),
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
  const events = data.pages.flatMap((page) => page.auditEvents?.nodes ?? [])
  return (
    <>
      {waiting}
      <Card title={<Count filter={filter} />} isFlush>
        {events.length === 0 ? (
          <Empty title={t('empty')}>
            <p>{t('emptyHint')}</p>
          </Empty>
        ) : (
          <div aria-busy={isPlaceholderData}>
            <AuditTable events={events} />
          </div>
        )}
        <LoadMore query={query} />
      </Card>
    </>
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
