import {
  coerceInputLiteral,
  coerceInputValue,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type ValueNode,
} from 'graphql'

/** Inputs of a field without those that have the wrong type, which are undefined, also within lists. */
export type SoundInputs = Readonly<Record<string, unknown>>

type Variables = Readonly<Record<string, unknown>>

/** The arguments of a field, as far as their types are right. Defaults are left out, since no rule refuses them. */
export function soundArguments(
  { arguments: given = [] }: FieldNode,
  known: readonly GraphQLArgument[],
  variables: Variables,
): SoundInputs {
  const literals = new Map(given.map(({ name, value }) => [name.value, value]))
  return fromEntries(known, (name, type) => {
    const literal = literals.get(name)
    return literal === undefined ? undefined : soundLiteral(literal, type, variables)
  })
}

function soundLiteral(node: ValueNode, type: GraphQLInputType, variables: Variables): unknown {
  if (node.kind === Kind.VARIABLE) return soundValue(variables[node.name.value], type)
  if (isNonNullType(type)) return soundLiteral(node, type.ofType, variables)
  if (node.kind === Kind.NULL) return null
  if (isListType(type)) {
    const items = node.kind === Kind.LIST ? node.values : [node]
    return items.map((item) => soundLiteral(item, type.ofType, variables))
  }
  if (!isInputObjectType(type)) return coerceInputLiteral(node, type)
  if (node.kind !== Kind.OBJECT) return undefined
  const literals = new Map(node.fields.map(({ name, value }) => [name.value, value]))
  return ofFields(type, (name, inner) => {
    const literal = literals.get(name)
    return literal === undefined ? undefined : soundLiteral(literal, inner, variables)
  })
}

function soundValue(value: unknown, type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return soundValue(value, type.ofType)
  if (value === undefined || value === null) return value
  if (isListType(type)) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value]
    return items.map((item) => soundValue(item, type.ofType))
  }
  if (!isInputObjectType(type)) return coerceInputValue(value, type)
  if (typeof value !== 'object') return undefined
  const given = new Map<string, unknown>(Object.entries(value))
  return ofFields(type, (name, inner) => soundValue(given.get(name), inner))
}

function ofFields(type: GraphQLInputObjectType, readValue: ReadValue): SoundInputs {
  return fromEntries(Object.values(type.getFields()), readValue)
}

type ReadValue = (name: string, type: GraphQLInputType) => unknown

function fromEntries(
  known: readonly { readonly name: string; readonly type: GraphQLInputType }[],
  readValue: ReadValue,
): SoundInputs {
  return Object.fromEntries(known.map(({ name, type }) => [name, readValue(name, type)]))
}
