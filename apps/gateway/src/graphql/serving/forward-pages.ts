import { type GraphQLSchema, getNullableType, isObjectType } from 'graphql'

const BACKWARD: ReadonlySet<string> = new Set(['last', 'before'])

/**
 * Takes the arguments for reading backwards from the lists of these connection types. Pothos gives them to every list, and a schema
 * that declares an argument says that it is taken.
 */
export function withForwardPagesOnly(schema: GraphQLSchema, connections: readonly string[]): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      if (!connections.includes(String(getNullableType(field.type)))) continue
      field.args = field.args.filter(({ name }) => !BACKWARD.has(name))
    }
  }
  return schema
}
