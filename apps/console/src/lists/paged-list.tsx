import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { Card } from '../ui/card.tsx'
import { SelectField } from '../ui/fields/field.tsx'
import { LoadMore } from '../ui/load-more.tsx'
import { ErrorNotice, Loading } from '../ui/notice.tsx'
import { PAGE_SIZES, usePageSize } from './page-size.ts'
import styles from './paged-list.module.css'

interface PagedListProps<Page, Row> {
  readonly query: UseInfiniteQueryResult<InfiniteData<Page>>
  readonly rowsOf: (page: Page) => readonly Row[] | undefined
  readonly title?: ReactNode
  /** What is shown if there is no row. */
  readonly empty: ReactNode
  readonly children: (rows: Row[]) => ReactNode
}

/** Rows that are read page after page. While another filter loads, those of the one before stay; its error replaces them. */
export function PagedList<Page, Row>({ query, rowsOf, title, empty, children }: PagedListProps<Page, Row>) {
  const { data, error, refetch, isPlaceholderData, hasNextPage } = query
  if (error !== null && (data === undefined || isPlaceholderData))
    return <ErrorNotice error={error} retry={refetch} />
  if (data === undefined)
    return (
      <Card title={title} isFlush>
        <Loading shape="list" />
      </Card>
    )
  const rows = data.pages.flatMap((page) => rowsOf(page) ?? [])
  return (
    <>
      {query.isRefetchError && <ErrorNotice error={error} retry={refetch} />}
      <Card title={title} isFlush>
        {rows.length === 0 ? empty : <div aria-busy={isPlaceholderData}>{children(rows)}</div>}
        {(hasNextPage || rows.length > PAGE_SIZES[0]) && (
          <div className={styles.end}>
            <LoadMore query={query} />
            <PageSizeField />
          </div>
        )}
      </Card>
    </>
  )
}

function PageSizeField() {
  const t = useTranslations('lists')
  const [size, choose] = usePageSize()
  return (
    <SelectField
      className={styles.size}
      label={t('pageSize')}
      value={size}
      onChange={({ target }) => choose(Number(target.value))}
    >
      {PAGE_SIZES.map((choice) => (
        <option key={choice} value={choice}>
          {choice}
        </option>
      ))}
    </SelectField>
  )
}
