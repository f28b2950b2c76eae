import type { ObjectRef } from '@pothos/core'
import type { Columns } from '#core/database/columns-of.ts'
import type { OrderChoice } from '#core/lists/list-order.ts'
import type { Listed, OrderedQuery } from '#core/lists/ordered-lists.ts'
import type { Principal } from '#core/requests/principal.ts'
import { ORDER_DIRECTION, type OrderedListDefinition } from '#resources/define/define-list.ts'
import { builder } from '../builder.ts'
import { callerOf, type GraphqlContext } from '../context.ts'
import { vocabularyEnum } from '../enum-of.ts'
import { orderedConnection } from '../reads/ordered-connection.ts'
import { TOTAL_COUNT } from '../reads/total-count.ts'
import type { Types } from './field-source.ts'
import { conditionInputs, conditionsIn } from './list-field.ts'

/** A page of a type, which counts all items if it is asked to. */
export function connectionOf<Row>(type: ObjectRef<Types, Row>, page: string, item: string) {
  return builder.connectionObject(
    {
      type,
      name: `${type.name}Connection`,
      description: `A page of ${page}.`,
      fields: (t) => ({ totalCount: t.int(TOTAL_COUNT) }),
    },
    { name: `${type.name}Edge`, description: `${item} and its place in the list.` },
  )
}

type Ordered<Order extends string> = Pick<OrderedListDefinition<never, Order>, 'conditions' | 'orders'>

/** The arguments that select and order the rows of a list. */
export function orderedArguments<Order extends string>({
  conditions,
  orders: { vocabulary, texts },
}: Ordered<Order>) {
  return builder.args((t) => ({
    ...conditionInputs(t, conditions),
    orderBy: t.field({
      type: vocabularyEnum(vocabulary),
      defaultValue: vocabulary.words[0],
      description: texts.orderBy,
    }),
    order: t.field({ type: vocabularyEnum(ORDER_DIRECTION), description: texts.order }),
  }))
}

interface OrderedRows<Row, Order extends string, Filter> {
  list(
    caller: Principal,
    query: OrderedQuery<Order> & Columns<object, object>,
    filter: Filter,
  ): Promise<Listed<Row>[]>
  count(caller: Principal, filter: Filter, signal: AbortSignal): Promise<number>
}

interface OrderedField<Row, Order extends string, Filter> {
  readonly name: string
  readonly description: string
  readonly type: ObjectRef<Types, Row>
  readonly connection: ReturnType<typeof connectionOf<Row>>
  readonly listOf: (context: GraphqlContext) => OrderedRows<Row, Order, Filter>
}

/** A field of Query with a list in an order that callers choose. */
export function orderedField<Row, Order extends string, Filter>(
  definition: Ordered<Order>,
  { name, description, type, connection, listOf }: OrderedField<Row, Order, Filter>,
): void {
  builder.queryField(name, (t) =>
    t.connection(
      {
        type,
        nullable: true,
        description,
        args: orderedArguments(definition),
        resolve(_root, args, context, info) {
          const filter = conditionsIn(definition.conditions, args) as Filter
          const caller = callerOf(context)
          const list = listOf(context)
          const { signal } = context
          // The enum has the words of the order, which the compiler cannot see of a parameter.
          return orderedConnection(args as typeof args & OrderChoice<Order>, context, info, {
            read: (query) => list.list(caller, { ...query, signal }, filter),
            count: () => list.count(caller, filter, signal),
          })
        },
      },
      connection,
    ),
  )
}
