import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { type KeyFieldsFragment, KeysDocument } from '../../generated/graphql.ts'
import { isPlaygroundKey } from '../../playground-keys.ts'
import { graphqlPages } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { numeric, Table, time } from '../../ui/table.tsx'
import { KeyBadge } from './key-badge.tsx'
import styles from './keys.module.css'

interface KeysListProps {
  readonly search: string | undefined
  readonly showAll: boolean
  readonly showPlayground: boolean
}

export function KeysList({ search = '', showAll, showPlayground }: KeysListProps) {
  const t = useTranslations('keys')
  const { role } = useSession()
  const variables = { search, state: showAll ? null : ('ACTIVE' as const) }
  const query = useInfiniteQuery({
    ...graphqlPages(KeysDocument, variables, ({ apiKeys }) => apiKeys),
    // The list stays in sight while the next one is searched.
    placeholderData: keepPreviousData,
  })
  const { data, error, refetch, hasNextPage, isFetching, fetchNextPage } = query
  const keys = (data?.pages ?? [])
    .flatMap(({ apiKeys }) => apiKeys?.nodes ?? [])
    .filter((key) => showPlayground || !isPlaygroundKey(key))
  // A page may hold nothing but keys that are hidden.
  const readsOn = keys.length === 0 && hasNextPage && !isFetching && error === null
  useEffect(() => {
    if (readsOn) void fetchNextPage()
  }, [readsOn, fetchNextPage])
  if (data === undefined) return error === null ? <Loading /> : <ErrorNotice error={error} retry={refetch} />
  if (keys.length === 0 && hasNextPage && error === null) return <Loading />
  return (
    <Card isFlush>
      {keys.length === 0 ? (
        <NoKeys isSearch={search.trim() !== ''} showAll={showAll} />
      ) : (
        <Table label={t('list')}>
          <thead>
            <tr>
              <th scope="col">{t('name')}</th>
              <th scope="col">{t('state')}</th>
              <th scope="col" className={numeric}>
                {t('today')}
              </th>
              <th scope="col" className={numeric}>
                {t('month')}
              </th>
              <th scope="col" className={numeric}>
                {t('total')}
              </th>
              <th scope="col">{t('lastUsed')}</th>
              <th scope="col">{t('expires')}</th>
              {role === 'admin' && <th scope="col">{t('owner')}</th>}
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <KeyRow key={key.id} apiKey={key} showOwner={role === 'admin'} />
            ))}
          </tbody>
        </Table>
      )}
      <LoadMore query={query} />
    </Card>
  )
}

function NoKeys({ isSearch, showAll }: { readonly isSearch: boolean; readonly showAll: boolean }) {
  const t = useTranslations('keys')
  if (isSearch) return <Empty title={t('notFound')} />
  return (
    <Empty title={t(showAll ? 'empty' : 'emptyActive')}>
      <p>{t(showAll ? 'emptyHint' : 'emptyActiveHint')}</p>
    </Empty>
  )
}

function KeyRow({ apiKey, showOwner }: { readonly apiKey: KeyFieldsFragment; readonly showOwner: boolean }) {
  const t = useTranslations('keys')
  const formats = useFormats()
  const { usage } = apiKey
  return (
    <tr>
      <th scope="row" className={styles.nameCell}>
        <Link to="/keys/$id" params={{ id: apiKey.id }}>
          {apiKey.name}
        </Link>
        <code className={styles.prefix}>{`${apiKey.keyPrefix}…`}</code>
      </th>
      <td>
        <KeyBadge apiKey={apiKey} />
      </td>
      <td className={numeric}>{formats.count(usage.callsToday)}</td>
      <td className={numeric}>{formats.count(usage.callsThisMonth)}</td>
      <td className={numeric}>{formats.count(usage.totalCalls)}</td>
      <td className={time}>{usage.lastUsedAt === null ? t('never') : formats.dateTime(usage.lastUsedAt)}</td>
      <td className={time}>{formats.date(apiKey.expiresAt)}</td>
      {showOwner && <td>{apiKey.owner?.username}</td>}
    </tr>
  )
}
