import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import {
  AuditEventsDocument,
  CallsDocument,
  KeysDocument,
  RefusalsDocument,
} from '../../../generated/graphql.ts'
import { graphqlQuery } from '../../../session/queries.ts'
import { Card } from '../../../ui/card.tsx'
import { Empty, ErrorNotice, Loading } from '../../../ui/notice.tsx'
import { AuditTable } from '../../audit/audit-table.tsx'
import { CallsTable } from '../../calls/calls-table.tsx'
import { KeysTable } from '../../keys/keys-table.tsx'
import { RefusalsTable } from '../../refusals/refusals-table.tsx'
import { EVENTS_MAX, newestEvents, type UserDetails } from './user-details.ts'

/** How many rows of each list the page shows. */
const first = 6

/** The keys of the user that were used last, the newest calls and refusals, and what was done by it and to it. */
export function UserLists({ user: { id, username, apiKeys } }: { readonly user: UserDetails }) {
  const t = useTranslations('users.page')
  const label = (title: string) => t('tableOf', { title, username })
  const keys = useQuery(graphqlQuery(KeysDocument, { ownerId: id, first, orderBy: 'LAST_USED_AT' }))
  const calls = useQuery(graphqlQuery(CallsDocument, { filter: { ownerId: id }, first }))
  const refusals = useQuery(graphqlQuery(RefusalsDocument, { filter: { ownerId: id }, first }))
  const by = useQuery(graphqlQuery(AuditEventsDocument, { filter: { userId: id }, first: EVENTS_MAX }))
  const to = useQuery(
    graphqlQuery(AuditEventsDocument, { filter: { target: 'user', targetId: id }, first: EVENTS_MAX }),
  )
  return (
    <>
      <ListCard
        title={t('keys')}
        aside={
          <Link to="/keys" search={{ owner: id, state: 'all' }}>
            {t('allKeys', { count: apiKeys?.totalCount ?? 0 })}
          </Link>
        }
        queries={[keys]}
        rows={keys.data?.apiKeys?.nodes}
        empty={t('noKeys')}
      >
        {(rows) => <KeysTable label={label(t('keys'))} keys={rows} />}
      </ListCard>
      <ListCard
        title={t('recentCalls')}
        aside={
          <Link to="/calls" search={{ user: id, range: 'all' }}>
            {t('allCalls')}
          </Link>
        }
        queries={[calls]}
        rows={calls.data?.calls?.nodes}
        empty={t('noCalls')}
      >
        {(rows) => <CallsTable label={label(t('recentCalls'))} calls={rows} />}
      </ListCard>
      <ListCard
        title={t('recentRefusals')}
        aside={
          <Link to="/refusals" search={{ user: id }}>
            {t('allRefusals')}
          </Link>
        }
        queries={[refusals]}
        rows={refusals.data?.refusals?.nodes}
        empty={t('noRefusals')}
      >
        {(rows) => <RefusalsTable label={label(t('recentRefusals'))} refusals={rows} />}
      </ListCard>
      <ListCard
        title={t('events')}
        aside={
          <span>
            <Link to="/audit" search={{ user: id }}>
              {t('allEventsBy')}
            </Link>
            {' · '}
            <Link to="/audit" search={{ target: 'user', targetId: id }}>
              {t('allEventsTo')}
            </Link>
          </span>
        }
        queries={[by, to]}
        rows={newestEvents(by.data?.auditEvents?.nodes, to.data?.auditEvents?.nodes)}
        empty={t('noEvents')}
      >
        {(rows) => <AuditTable label={label(t('events'))} events={rows} />}
      </ListCard>
    </>
  )
}

interface ListCardProps<Row> {
  readonly title: string
  /** The way to the whole list. */
  readonly aside: ReactNode
  readonly queries: readonly UseQueryResult[]
  readonly rows: readonly Row[] | undefined
  /** What is said where there is no row. */
  readonly empty: string
  readonly children: (rows: readonly Row[]) => ReactNode
}

function ListCard<Row>({ title, aside, queries, rows = [], empty, children }: ListCardProps<Row>) {
  const unread = queries.find(({ data }) => data === undefined)
  return (
    <Card title={title} aside={aside} isFlush>
      {unread === undefined && (rows.length === 0 ? <Empty title={empty} /> : children(rows))}
      {unread?.error === null && <Loading shape="list" />}
      {unread?.error && <ErrorNotice error={unread.error} retry={unread.refetch} />}
    </Card>
  )
}
