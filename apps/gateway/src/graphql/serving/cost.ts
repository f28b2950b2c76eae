import {
  type FieldNode,
  type GraphQLField,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  Kind,
  type ValueNode,
} from 'graphql'
import { PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX } from '#core/requests/input/pagination.ts'

export type Variables = Readonly<Record<string, unknown>>

/** For lists whose length no argument says, such as the agents. */
const LIST_ITEMS = 10

/** What is known about the selections below a field. */
export interface Multiplied {
  /** How often each of them is resolved. */
  readonly times: number
  /** The page size, if they are those of a connection, which has its items one level below. */
  readonly pageItems: number | undefined
}

/**
 * How often the selections below a field are resolved, at most: lists multiply by the page size that the caller asks for, the
 * items of a connection by the page size of the connection.
 */
export function multiply(
  { times, pageItems }: Multiplied,
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  variables: Variables,
): Multiplied {
  const hasItems = isList(field.type)
  const asked = askedItems(node, field, variables)
  if (!hasItems) return { times, pageItems: asked }
  return { times: times * (asked ?? pageItems ?? LIST_ITEMS), pageItems: undefined }
}

/** For `extensions` of a field that reads what is no page of a list, and yet a statement or more for each selection. */
export const COUNTS_AS_LIST = { countsAsList: true } as const

/** Whether each selection of a field, with arguments of its own, is read by itself: a page of a list, or a report. */
export function readsList({ type, extensions }: GraphQLField<unknown, unknown>): boolean {
  const named = getNamedType(type)
  const isPage = isObjectType(named) && Object.hasOwn(named.getFields(), 'edges')
  return isPage || extensions.hasOwnLimit === true || extensions.countsAsList === true
}

function isList(type: GraphQLOutputType): boolean {
  return isListType(getNullableType(type))
}

/** The number of items that the arguments of a field ask for; undefined if it has no such argument. */
function askedItems(
  node: FieldNode,
  { args }: GraphQLField<unknown, unknown>,
  variables: Variables,
): number | undefined {
  const argumentOf = (name: string) => {
    const argument = node.arguments?.find((each) => each.name.value === name)
    return argument === undefined ? undefined : plainValue(argument.value, variables)
  }
  if (args.some(({ name }) => name === 'ids')) {
    const ids = argumentOf('ids')
    return Array.isArray(ids) ? ids.length : 1
  }
  if (!args.some(({ name }) => name === 'first')) return undefined
  return pageSize(argumentOf('first') ?? argumentOf('last'))
}

/** A size that is not valid is refused later, in better words; it must not make the cost smaller. */
function pageSize(size: unknown): number {
  if (size == null) return PAGE_ITEMS_DEFAULT
  const items = Number(size)
  return items >= 1 && items <= PAGE_ITEMS_MAX ? items : PAGE_ITEMS_MAX
}

function plainValue(node: ValueNode, variables: Variables): unknown {
  switch (node.kind) {
    case Kind.VARIABLE:
      return variables[node.name.value]
    case Kind.INT:
      return Number(node.value)
    case Kind.LIST:
      return node.values
    default:
      return undefined
  }
}
