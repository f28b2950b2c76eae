import {
  type InfiniteData,
  keepPreviousData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import type { GraphqlDocument } from '@trunkline/sdk/graphql'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { graphqlPages, graphqlQuery } from '../session/queries.ts'
import { Card } from '../ui/card.tsx'
import { SelectField } from '../ui/fields/field.tsx'
import { LoadMore } from '../ui/load-more.tsx'
import { Empty, ErrorNotice, Loading } from '../ui/notice.tsx'
import { PAGE_SIZES, usePageSize } from './page-size.ts'
import styles from './paged-list.module.css'
import { type ListName, useListTexts } from './use-list-texts.ts'

interface ListPart {
  readonly nodes: readonly unknown[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null | undefined }
}

/** The rows in the data of a document that reads one list and nothing else. */
type RowIn<Data> =
  NonNullable<Data[keyof Data]> extends { readonly nodes: readonly (infer Row)[] } ? Row : never

/** The list in the data of such a document. */
export function listIn(data: object): ListPart | null | undefined {
  return Object.values(data)[0] as ListPart | null | undefined
}

interface RowsProps<Row> {
  /** Whose texts are shown. */
  readonly of: ListName
  /** What is shown if there is no row, if that is more than the usual texts. */
  readonly empty?: ReactNode
  readonly children: (rows: Row[]) => ReactNode
}

interface QueriedListProps<Data, Variables, CountVariables> extends RowsProps<RowIn<Data>> {
  readonly document: GraphqlDocument<Data, Variables>
  /** Reads how many rows match. */
  readonly total: GraphqlDocument<object, CountVariables>
  /** What selects the rows. */
  readonly filter: Variables & CountVariables
  /** What orders them. */
  readonly order?: Partial<Variables>
}

/** The rows that match, page after page, and how many they are. */
export function QueriedList<Data extends object, Variables extends object, CountVariables extends object>(
  props: QueriedListProps<Data, Variables, CountVariables>,
) {
  const { document, total, filter, order, ...list } = props
  const [first] = usePageSize()
  const query = useInfiniteQuery(graphqlPages(document, { ...filter, ...order, first }, listIn))
  const title = <ListCount of={list.of} document={total} variables={filter} />
  return <PagedList {...list} title={title} query={query} />
}

interface PagedListProps<Data, Row> extends RowsProps<Row> {
  readonly query: UseInfiniteQueryResult<InfiniteData<Data>>
  readonly title?: ReactNode
  /** The rows of a page that are shown, if not all. */
  rowsOf?(page: Data): readonly Row[]
}

/** Rows that are read page after page. While another filter loads, those of the one before stay; its error replaces them. */
export function PagedList<Data extends object>(props: PagedListProps<Data, RowIn<Data>>) {
  const { of, query, title, rowsOf, children } = props
  const { data, error, refetch, isPlaceholderData, hasNextPage } = query
  if (error !== null && (data === undefined || isPlaceholderData))
    return <ErrorNotice error={error} retry={refetch} />
  if (data === undefined)
    return (
      <Card title={title} isFlush>
        <Loading shape="list" />
      </Card>
    )
  const rows = data.pages.flatMap((page) => rowsOf?.(page) ?? (listIn(page)?.nodes as RowIn<Data>[]) ?? [])
  return (
    <>
      {query.isRefetchError && <ErrorNotice error={error} retry={refetch} />}
      <Card title={title} isFlush>
        {rows.length === 0 ? (
          (props.empty ?? <NoRows of={of} />)
        ) : (
          <div aria-busy={isPlaceholderData}>{children(rows)}</div>
        )}
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

function NoRows({ of }: { readonly of: ListName }) {
  const { text } = useListTexts(of)
  return <Empty title={text('empty')}>{text.has('emptyHint') && <p>{text('emptyHint')}</p>}</Empty>
}

/** The gateway counts up to this. */
const COUNT_MAX = 10_000

interface ListCountProps<Variables> {
  readonly of: ListName
  readonly document: GraphqlDocument<object, Variables>
  readonly variables: Variables
}

/** How many rows match. */
export function ListCount<Variables extends object>({ of, document, variables }: ListCountProps<Variables>) {
  const { text } = useListTexts(of)
  const common = useTranslations('common')
  const { data } = useQuery({ ...graphqlQuery(document, variables), placeholderData: keepPreviousData })
  const list = data && (Object.values(data)[0] as { readonly totalCount: number | null } | null)
  if (list == null) return common('loading')
  const { totalCount } = list
  return totalCount === null ? text('countMany', { max: COUNT_MAX }) : text('count', { count: totalCount })
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
