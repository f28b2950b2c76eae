import { type GraphQLInputType, isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql'

/** The end of the sentence "expected …" for an input of this type. */
export function expectedInput(type: GraphQLInputType): string {
  if (isNonNullType(type)) return expectedInput(type.ofType)
  if (isListType(type)) return `a list, each item ${expectedInput(type.ofType)}`
  if (isEnumType(type))
    return `one of ${type
      .getValues()
      .map(({ name }) => name)
      .join(', ')}`
  if (isInputObjectType(type)) return 'an object'
  return SCALARS[type.name] ?? 'a valid value'
}

/** Scalars by name, in the words in which the REST API says the same. */
const SCALARS: Readonly<Record<string, string>> = {
  Boolean: 'true or false',
  DateTime: 'an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z',
  Float: 'a number',
  ID: 'an id',
  Int: 'an integer',
  JSON: 'a JSON value',
  JSONObject: 'an object',
  SafeInt: 'an integer',
  String: 'a string',
}
