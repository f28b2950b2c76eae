import { queryFromInfo } from '@pothos/plugin-prisma'
import { type GraphQLResolveInfo, getNamedType, isObjectType, Kind } from 'graphql'
import type { Columns } from '#core/database/columns-of.ts'
import type { OrderChoice } from '#core/lists/list-order.ts'
import type { Listed, OrderedQuery } from '#core/lists/ordered-lists.ts'
import { PAGE_ITEMS_DEFAULT } from '#core/requests/input/pagination.ts'
import type { GraphqlContext } from '../context.ts'

/** The arguments of a connection, as `checkPage` of locate-problems.ts has checked them. */
interface PageArguments {
  readonly first?: number | null | undefined
  readonly last?: number | null | undefined
  readonly before?: string | null | undefined
  readonly after?: string | null | undefined
}

interface Arguments<Field extends string> extends PageArguments {
  readonly orderBy?: Field | null | undefined
  readonly order?: 'asc' | 'desc' | null | undefined
}

interface List<Query, Row> {
  read(query: Query): Promise<Row[] | null>
  /** Null where there are more than are counted. */
  count(): Promise<number | null>
}

/**
 * A page of a list that callers order. `prismaConnection` of Pothos makes the cursor of a row from unique columns, which say
 * nothing about its place in a list by another column.
 */
export function orderedConnection<Row, Field extends string>(
  args: Arguments<Field>,
  context: GraphqlContext,
  info: GraphQLResolveInfo,
  { read, count }: List<OrderedQuery<Field> & Columns<object, object>, Listed<Row>>,
) {
  return cursorConnection(args, info, {
    read: (page) => read({ ...columnsOf(context, info), ...choiceOf(args), ...page }),
    count,
  })
}

/** A page of a list whose rows have cursors of their own. */
export async function cursorConnection<Row extends { readonly cursor: string }>(
  args: PageArguments,
  info: GraphQLResolveInfo,
  { read, count: totalCount }: List<{ take: number; cursor: string | undefined }, Row>,
) {
  const { first, last, before, after } = args
  const size = first ?? last ?? PAGE_ITEMS_DEFAULT
  const isBackward = last != null || before != null
  const rows = countsOnly(info)
    ? []
    : ((await read({
        // One more than the page holds, to learn whether there is a next page.
        take: isBackward ? -(size + 1) : size + 1,
        cursor: before ?? after ?? undefined,
      })) ?? [])
  const hasMore = rows.length > size
  const page = isBackward ? rows.slice(-size) : rows.slice(0, size)
  return {
    edges: page.map((node) => ({ cursor: node.cursor, node })),
    pageInfo: {
      startCursor: page[0]?.cursor ?? null,
      endCursor: page.at(-1)?.cursor ?? null,
      hasNextPage: isBackward ? before != null : hasMore,
      hasPreviousPage: isBackward ? hasMore : after != null,
    },
    totalCount,
  }
}

function choiceOf<Field extends string>({ orderBy, order }: Arguments<Field>): OrderChoice<Field> {
  return { orderBy: orderBy ?? undefined, order: order ?? undefined }
}

function columnsOf(context: GraphqlContext, info: GraphQLResolveInfo): Columns<object, object> {
  const { name: typeName } = nodeTypeOf(info)
  return queryFromInfo({
    context,
    info,
    select: { id: true },
    paths: [['nodes'], ['edges', 'node']],
    typeName,
  })
}

function nodeTypeOf({ returnType }: GraphQLResolveInfo) {
  const connection = getNamedType(returnType)
  const nodes = isObjectType(connection) ? connection.getFields().nodes : undefined
  if (nodes === undefined) throw new Error(`${connection.name} is no connection`)
  return getNamedType(nodes.type)
}

/** Whether only the total is selected, so that no row needs to be read. */
function countsOnly({ fieldNodes }: GraphQLResolveInfo): boolean {
  return fieldNodes.every(({ selectionSet }) =>
    selectionSet?.selections.every(
      (selected) =>
        selected.kind === Kind.FIELD &&
        (selected.name.value === 'totalCount' || selected.name.value === '__typename'),
    ),
  )
}
