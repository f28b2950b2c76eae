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
  const events = newestEvents(by.data?.auditEvents?.nodes, to.data?.auditEvents?.nodes)
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
        empty={keys.data?.apiKeys?.nodes.length === 0 && t('noKeys')}
      >
        <KeysTable label={label(t('keys'))} keys={keys.data?.apiKeys?.nodes ?? []} />
      </ListCard>
      <ListCard
        title={t('recentCalls')}
        aside={
          <Link to="/calls" search={{ user: id, range: 'all' }}>
            {t('allCalls')}
          </Link>
        }
        queries={[calls]}
        empty={calls.data?.calls?.nodes.length === 0 && t('noCalls')}
      >
        <CallsTable label={label(t('recentCalls'))} calls={calls.data?.calls?.nodes ?? []} />
      </ListCard>
      <ListCard
        title={t('recentRefusals')}
        aside={
          <Link to="/refusals" search={{ user: id }}>
            {t('allRefusals')}
          </Link>
        }
        queries={[refusals]}
        empty={refusals.data?.refusals?.nodes.length === 0 && t('noRefusals')}
      >
        <RefusalsTable label={label(t('recentRefusals'))} refusals={refusals.data?.refusals?.nodes ?? []} />
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
        empty={events.length === 0 && t('noEvents')}
      >
        <AuditTable label={label(t('events'))} events={events} />
      </ListCard>
    </>
  )
}

interface ListCardProps {
  readonly title: string
  /** The way to the whole list. */
  readonly aside: ReactNode
  readonly queries: readonly UseQueryResult[]
  /** What is said where there is no row. */
  readonly empty: string | false
  readonly children: ReactNode
}

function ListCard({ title, aside, queries, empty, children }: ListCardProps) {
  const unread = queries.find(({ data }) => data === undefined)
  return (
    <Card title={title} aside={aside} isFlush>
      {unread === undefined ? (
        empty === false ? (
          children
        ) : (
          <Empty title={empty} />
        )
      ) : unread.error === null ? (
        <Loading shape="list" />
      ) : (
        <ErrorNotice error={unread.error} retry={unread.refetch} />
      )}
    </Card>
  )
}
