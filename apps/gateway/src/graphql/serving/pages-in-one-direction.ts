import { type GraphQLSchema, getNullableType, isObjectType } from 'graphql'

const ARGUMENTS = { forwards: ['first', 'after'], backwards: ['last', 'before'] } as const

/**
 * Takes the arguments for reading in the other direction from the lists of these connection types. Pothos gives them to every list,
 * and a schema that declares an argument says that it is taken.
 */
export function withPagesInOneDirection(
  schema: GraphQLSchema,
  connections: Readonly<Record<string, keyof typeof ARGUMENTS>>,
): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      const direction = connections[String(getNullableType(field.type))]
      if (direction === undefined) continue
      const others: readonly string[] = ARGUMENTS[direction === 'forwards' ? 'backwards' : 'forwards']
      field.args = field.args.filter(({ name }) => !others.includes(name))
    }
  }
  return schema
}
