import { type GraphQLArgument, type GraphQLInputType, getNamedType, isInputObjectType } from 'graphql'
import type { FieldPath } from '#core/base/values/field-path.ts'

/** The position of an input among those of the schema, from the argument on; unknown names come last. */
export function rankOfInput(
  [first, ...rest]: FieldPath,
  known: readonly GraphQLArgument[],
): readonly number[] {
  const index = known.findIndex(({ name }) => name === first)
  const rank = [index < 0 ? known.length : index]
  let type: GraphQLInputType | undefined = known[index]?.type
  for (const name of rest) {
    // The items of a list have the same named type as the list.
    if (typeof name === 'number') {
      rank.push(name)
      continue
    }
    const named = type && getNamedType(type)
    const fields = isInputObjectType(named) ? named.getFields() : {}
    const names = Object.keys(fields)
    rank.push(names.includes(name) ? names.indexOf(name) : names.length)
    type = fields[name]?.type
  }
  return rank
}
