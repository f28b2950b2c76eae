import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useEffect } from 'react'
import { useTranslations } from 'use-intl'
import type { FilterOf } from '../../filters/conditions.ts'
import { KEYS_ORDERS } from '../../generated/conditions.ts'
import { KeysDocument, type KeysQuery } from '../../generated/graphql.ts'
import { ListPage, useAddress } from '../../lists/list-page.tsx'
import { NEWEST_FIRST, orderOf, orderText } from '../../lists/order.ts'
import { usePageSize } from '../../lists/page-size.ts'
import { listIn, PagedList } from '../../lists/paged-list.tsx'
import { isPlaygroundKey } from '../../playground-keys.ts'
import { graphqlPages } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Choices } from '../../ui/fields/choices.tsx'
import { CheckField } from '../../ui/fields/field.tsx'
import { Empty, Loading, Notice } from '../../ui/notice.tsx'
import { CreateKey } from './create-key.tsx'
import styles from './keys.module.css'
import { KEY_CONDITIONS, type KeysSearch, STATES } from './keys-search.ts'
import { KeysTable } from './keys-table.tsx'
import { daysOf } from './state/key-expiry.ts'

const route = getRouteApi('/shell/keys')

/** The API keys that the user made or owns; for an administrator all. */
export function KeysPage() {
  const t = useTranslations('keys')
  const { role } = useSession()
  const [search, onChange] = useAddress(route)
  const { state = 'active', playground } = search
  const mayCreate = role !== 'user'
  const stateName = (name: (typeof STATES)[number]) => (name === 'all' ? t('all') : t(`states.${name}`))
  const shown = (
    <>
      <Choices
        label={t('show')}
        value={state}
        options={STATES.map((value) => ({ value, label: stateName(value) }))}
        onChange={(chosen) => onChange({ state: chosen === 'active' ? undefined : chosen })}
      />
      <div className={styles.beside}>
        <CheckField
          label={t('showPlayground')}
          checked={playground === true}
          onChange={({ target }) => onChange({ playground: target.checked || undefined })}
        />
      </div>
    </>
  )
  return (
    <ListPage
      of="keys"
      conditions={KEY_CONDITIONS}
      {...{ search, onChange }}
      usual={{
        state: { chip: t('show'), textOf: stateName, element: shown },
        owner: {},
        expiring: { label: t('expires'), textOf: (time) => t('within', { days: daysOf(time) }) },
        unused: { label: t('unused'), textOf: (time) => t('unusedFor', { days: daysOf(time) }) },
      }}
      actions={
        mayCreate && (
          <Link to="/keys" search={{ ...search, new: true }} className={buttonClass('primary')}>
            <Plus aria-hidden />
            {t('new')}
          </Link>
        )
      }
    >
      {(filter) => (
        <>
          {!mayCreate && <Notice tone="info">{t('userRole')}</Notice>}
          <KeysList {...{ filter, search }} onOrder={(order) => onChange({ order })} />
          {mayCreate && search.new === true && <CreateKey />}
        </>
      )}
    </ListPage>
  )
}

interface KeysListProps {
  readonly filter: FilterOf<typeof KEY_CONDITIONS>
  readonly search: KeysSearch
  onOrder(order: string): void
}

const STATE_WORDS = {
  active: 'ACTIVE',
  paused: 'PAUSED',
  expired: 'EXPIRED',
  revoked: 'REVOKED',
  all: null,
} as const

function KeysList({ filter: { state = 'active', ...filter }, search, onOrder }: KeysListProps) {
  const [first] = usePageSize()
  const order = orderOf(search.order, KEYS_ORDERS) ?? NEWEST_FIRST
  const variables = {
    ...{ ...filter, first, orderBy: order.field, order: order.direction },
    state: STATE_WORDS[state],
  }
  const query = useInfiniteQuery(graphqlPages(KeysDocument, variables, listIn))
  const { data, error, hasNextPage, isFetching, fetchNextPage } = query
  const rowsOf = ({ apiKeys }: KeysQuery) =>
    apiKeys?.nodes.filter((key) => search.playground === true || !isPlaygroundKey(key)) ?? []
  const isEmpty = data?.pages.every((page) => rowsOf(page).length === 0) === true
  // A page may hold nothing but keys that are hidden.
  const readsOn = isEmpty && hasNextPage && !isFetching && error === null
  useEffect(() => {
    if (readsOn) void fetchNextPage()
  }, [readsOn, fetchNextPage])
  if (isEmpty && hasNextPage && error === null) return <Loading shape="list" />
  return (
    <PagedList of="keys" query={query} rowsOf={rowsOf} empty={<NoKeys search={search} />}>
      {(keys) => <KeysTable keys={keys} order={order} onOrder={(chosen) => onOrder(orderText(chosen))} />}
    </PagedList>
  )
}

function NoKeys({
  search: { search = '', state, expiring, unused, owner },
}: {
  readonly search: KeysSearch
}) {
  const t = useTranslations('keys')
  if (expiring !== undefined) return <Empty title={t('noneExpiring')} />
  const isAll = state === 'all'
  const isNarrow = owner !== undefined || unused !== undefined || !(isAll || (state ?? 'active') === 'active')
  if (search.trim() !== '' || isNarrow) return <Empty title={t('notFound')} />
  return (
    <Empty title={t(isAll ? 'empty' : 'emptyActive')}>
      <p>{t(isAll ? 'emptyHint' : 'emptyActiveHint')}</p>
    </Empty>
  )
}
