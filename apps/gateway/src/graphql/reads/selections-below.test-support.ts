import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql'
import { schema } from '../schema.ts'

/** How many types with ids a selection goes through. */
const NODES_DEEP = process.env.SOAK ? 2 : 1

type Selections = readonly (readonly [path: string, selection: string])[]

/**
 * A selection for every field below a type of the schema: for each field with fields of its own one that selects the leaves
 * below it, and one for the leaves of the type itself. The ordinary run reads each field directly below the types that it
 * belongs to, and only the long run (`SOAK`) below all the others that lead there, which are some hundreds.
 */
export function selectionsBelow(name: string): Selections {
  return below(objectType(schema.getType(name)), [], 0)
}

function below(type: GraphQLObjectType, seen: readonly string[], nodes: number): Selections {
  const fields = Object.values(type.getFields())
  const own: Selections = [['its own fields', leavesOf(type)]]
  const known = [...seen, type.name]
  const nested = fields.filter(isComposite).flatMap((field) => {
    const inner = itemsOf(field)
    const deeper = inner.isNode ? nodes + 1 : nodes
    if (deeper > NODES_DEEP || (!inner.isNode && known.includes(inner.type.name))) return []
    // What lies below a type does not depend on how often it was passed; a report has one report before it.
    return below(inner.type, inner.isNode ? [] : known, deeper).map(
      ([path, selection]) => [`${field.name}: ${path}`, inner.wrap(selection)] as const,
    )
  })
  return [...own.filter(([, selection]) => selection !== ''), ...nested]
}

/** The leaves of a type, and those of objects that have nothing else, such as the quota. */
function leavesOf(type: GraphQLObjectType): string {
  return Object.values(type.getFields())
    .filter((field) => !isComposite(field))
    .map(({ name, type: of }) => {
      const named = getNamedType(of)
      return isObjectType(named) ? `${name} { ${leavesOf(named)} }` : name
    })
    .join(' ')
}

/** Whether a field leads to objects that lead further. */
function isComposite(field: GraphQLField<unknown, unknown>): boolean {
  const type = getNamedType(field.type)
  if (isLeafType(type)) return false
  const isValue =
    isObjectType(type) &&
    !isNodeType(type) &&
    Object.values(type.getFields()).every(({ type: of }) => isLeafType(getNamedType(of)))
  return !isValue
}

/** What a field leads to, through the page of a connection. */
function itemsOf(field: GraphQLField<unknown, unknown>) {
  const type = objectType(getNamedType(field.type))
  const given = field.args.some(({ name }) => name === 'first') ? '(first: 2)' : ''
  const { nodes } = type.getFields()
  if (nodes === undefined) {
    const wrap = (selection: string) => `${field.name}${given} { ${selection} }`
    return { type, isNode: isNodeType(type), wrap }
  }
  const page = `${leavesOf(type)} pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`
  const wrap = (selection: string) =>
    `${field.name}${given} { ${page} nodes { ${selection} } edges { cursor } }`
  return { type: objectType(getNamedType(nodes.type)), isNode: true, wrap }
}

function isNodeType(type: GraphQLObjectType): boolean {
  return type.getInterfaces().some(({ name }) => name === 'Node')
}

function objectType(type: GraphQLNamedType | undefined): GraphQLObjectType {
  if (!isObjectType(type)) throw new Error(`${type?.name} is no object type`)
  return type
}
