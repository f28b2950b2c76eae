import { type GraphQLSchema, getNullableType, isObjectType } from 'graphql'

/** The extensions of a connection type whose lists are read in one direction alone. */
export const PAGES_FORWARDS = { pages: 'forwards' } as const
export const PAGES_BACKWARDS = { pages: 'backwards' } as const

const OTHER_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  forwards: ['last', 'before'],
  backwards: ['first', 'after'],
}

/**
 * Takes the arguments for reading in the other direction from the lists of such connection types. Pothos gives them to every list, and
 * a schema that declares an argument says that it is taken.
 */
export function withPagesInOneDirection(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      const connection = getNullableType(field.type)
      const others = isObjectType(connection) && OTHER_ARGUMENTS[String(connection.extensions.pages)]
      if (others) field.args = field.args.filter(({ name }) => !others.includes(name))
    }
  }
  return schema
}
