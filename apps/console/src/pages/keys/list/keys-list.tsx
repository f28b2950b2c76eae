import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useTranslations } from 'use-intl'
import { type ApiKeyState, KeysDocument } from '../../../generated/graphql.ts'
import { type Order, orderOf, orderText } from '../../../lists/order.ts'
import { usePageSize } from '../../../lists/page-size.ts'
import { PagedList } from '../../../lists/paged-list.tsx'
import { isPlaygroundKey } from '../../../playground-keys.ts'
import { graphqlPages } from '../../../session/queries.ts'
import { Empty, Loading } from '../../../ui/notice.tsx'
import { type KeysSearch, ORDERS } from '../keys-search.ts'
import { soon } from '../state/key-expiry.ts'
import { KeysTable } from './keys-table.tsx'

interface KeysListProps {
  readonly search: KeysSearch
  onChange(changed: KeysSearch): void
}

const STATES = {
  active: 'ACTIVE',
  expired: 'EXPIRED',
  revoked: 'REVOKED',
  all: null,
} as const satisfies Record<string, ApiKeyState | null>

const NEWEST_FIRST: Order<(typeof ORDERS)[number]> = { field: 'CREATED_AT', direction: 'DESC' }

export function KeysList({ search, onChange }: KeysListProps) {
  const variables = useVariables(search)
  const query = useInfiniteQuery(graphqlPages(KeysDocument, variables, ({ apiKeys }) => apiKeys))
  const { data, error, hasNextPage, isFetching, fetchNextPage } = query
  const rowsOf = ({ apiKeys }: NonNullable<typeof data>['pages'][number]) =>
    apiKeys?.nodes.filter((key) => search.playground === true || !isPlaygroundKey(key))
  const isEmpty = data?.pages.every((page) => (rowsOf(page) ?? []).length === 0) === true
  // A page may hold nothing but keys that are hidden.
  const readsOn = isEmpty && hasNextPage && !isFetching && error === null
  useEffect(() => {
    if (readsOn) void fetchNextPage()
  }, [readsOn, fetchNextPage])
  if (isEmpty && hasNextPage && error === null) return <Loading shape="list" />
  return (
    <PagedList query={query} rowsOf={rowsOf} empty={<NoKeys search={search} />}>
      {(keys) => (
        <KeysTable
          keys={keys}
          order={orderOf(search.order, ORDERS) ?? NEWEST_FIRST}
          onOrder={(order) => onChange({ order: orderText(order) })}
        />
      )}
    </PagedList>
  )
}

function useVariables({ search = '', state, expiring, owner, order: text }: KeysSearch) {
  const [first] = usePageSize()
  // A time that moves on would make another list of each drawing.
  const expiresBefore = useMemo(() => (expiring === true ? soon(new Date()).toISOString() : null), [expiring])
  const order = orderOf(text, ORDERS) ?? NEWEST_FIRST
  return {
    ...{ first, search, expiresBefore },
    state: STATES[state ?? 'active'],
    ownerId: owner ?? null,
    orderBy: order.field,
    order: order.direction,
  }
}

function NoKeys({ search: { search = '', state, expiring, owner } }: { readonly search: KeysSearch }) {
  const t = useTranslations('keys')
  if (expiring === true) return <Empty title={t('noneExpiring')} />
  if (search.trim() !== '' || owner !== undefined || state === 'expired' || state === 'revoked')
    return <Empty title={t('notFound')} />
  const isAll = state === 'all'
  return (
    <Empty title={t(isAll ? 'empty' : 'emptyActive')}>
      <p>{t(isAll ? 'emptyHint' : 'emptyActiveHint')}</p>
    </Empty>
  )
}
