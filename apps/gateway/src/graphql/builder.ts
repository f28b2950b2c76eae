import SchemaBuilder from '@pothos/core'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import { GraphQLJSON, GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars'
import { PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX } from '#core/requests/input/pagination.ts'
import type PrismaTypes from '#generated/pothos.ts'
import { getDatamodel } from '#generated/pothos.ts'
import type { GraphqlContext } from './context.ts'
import { DateTimeScalar } from './date-time.ts'

/**
 * Fields are non-null unless they say otherwise. Fields of Query, Mutation and Subscription are nullable: each can be refused
 * by itself, and a refusal must not take the results of the others with it.
 */
export const builder = new SchemaBuilder<{
  Context: GraphqlContext
  PrismaTypes: PrismaTypes
  DefaultFieldNullability: false
  DefaultEdgesNullability: { list: false; items: false }
  DefaultNodeNullability: false
  Scalars: {
    ID: { Input: string; Output: string }
    /** Input stays text, because core parses and checks every time that a caller sends. */
    DateTime: { Input: string; Output: Date }
    SafeInt: { Input: number; Output: number }
    JSON: { Input: unknown; Output: unknown }
    JSONObject: { Input: Record<string, unknown>; Output: Record<string, unknown> }
  }
}>({
  plugins: [RelayPlugin, PrismaPlugin],
  defaultFieldNullability: false,
  prisma: {
    client: ({ rereads }) => rereads,
    dmmf: getDatamodel(),
    exposeDescriptions: false,
    filterConnectionTotalCount: true,
    // A resolver that ignores its query would read whole rows and let Pothos read the rest again.
    onUnusedQuery: 'error',
    defaultConnectionSize: PAGE_ITEMS_DEFAULT,
    maxConnectionSize: PAGE_ITEMS_MAX,
  },
  relay: {
    // Ids are the UUIDs of REST, so `node` and `nodes` are fields of our own: see types/find-node.ts.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    cursorType: 'String',
    nodesOnConnection: { description: 'The items of this page, without their cursors.' },
    edgesFieldOptions: {
      description: 'The items of this page, each with its cursor.',
      nullable: { list: false, items: false },
    },
    nodeFieldOptions: { description: 'The item.', nullable: false },
    cursorFieldOptions: { description: 'The position of the item, for `after` and `before`.' },
    pageInfoFieldOptions: { description: 'What comes before and after this page.' },
    pageInfoTypeOptions: { description: 'Where a page is in its list.' },
    hasNextPageFieldOptions: { description: 'Whether there are items after this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether there are items before this page.' },
    startCursorFieldOptions: { description: 'The cursor of the first item; null on an empty page.' },
    endCursorFieldOptions: {
      description:
        'The cursor of the last item: send it as `after` to get the next page. Null on an empty page.',
    },
    firstArgOptions: {
      description: `How many items to return from the start, or after \`after\`: 1 to ${PAGE_ITEMS_MAX}, ${PAGE_ITEMS_DEFAULT} by default.`,
    },
    lastArgOptions: {
      description: `How many items to return from the end, or before \`before\`: 1 to ${PAGE_ITEMS_MAX}.`,
    },
    afterArgOptions: { description: 'Return the items after this cursor.' },
    beforeArgOptions: { description: 'Return the items before this cursor.' },
  },
})

builder.addScalarType('DateTime', DateTimeScalar)
builder.addScalarType('SafeInt', GraphQLSafeInt, {
  description:
    'A whole number of up to 53 bits, which is exact in JavaScript: counts of calls, tokens and bytes, which `Int` with its 32 bits may not hold.',
})
builder.addScalarType('JSON', GraphQLJSON)
builder.addScalarType('JSONObject', GraphQLJSONObject)

builder.queryType({ description: 'Everything that can be read.' })
builder.subscriptionType({ description: 'Everything that can be followed while it happens.' })
builder.mutationType({
  description: 'Everything that can be changed. Mutations of one request run one after the other.',
})
