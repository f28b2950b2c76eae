import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import type { Columns } from '#core/database/columns-of.ts'
import type { GraphqlContext } from '../context.ts'

/** The columns and relations that the query selects of the object at a field that a loader resolves. */
export function relatedQuery(context: GraphqlContext, info: GraphQLResolveInfo): Columns<object, object> {
  return queryFromInfo({ context, info })
}
