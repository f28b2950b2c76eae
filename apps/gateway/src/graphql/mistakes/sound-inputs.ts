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
import type { FieldPath } from '#core/base/values/field-path.ts'

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
  if (isNonNullType(type)) return soundLiteral(node, type.ofType, variables) ?? undefined
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
  if (isNonNullType(type)) return soundValue(value, type.ofType) ?? undefined
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

/**
 * The same inputs for rules, which are written for lists without gaps: a list has its sound items alone, and is left out if it
 * has none.
 */
export function withoutGaps(inputs: SoundInputs): SoundInputs {
  return Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, filled(value)]))
}

function filled(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.filter((item) => item !== undefined)
    return items.length === 0 && value.length > 0 ? undefined : items.map(filled)
  }
  return isRecord(value) ? withoutGaps(value) : value
}

/** Where an input that was found in the inputs {@link withoutGaps} is in these inputs. */
export function placeAmongGaps(place: FieldPath, inputs: SoundInputs): FieldPath {
  let around: unknown = inputs
  return place.map((name) => {
    const own = Array.isArray(around) && typeof name === 'number' ? placeOfItem(around, name) : name
    around = isRecord(around) || Array.isArray(around) ? Reflect.get(around, own) : undefined
    return own
  })
}

function placeOfItem(items: readonly unknown[], index: number): number {
  const places = items.flatMap((item, place) => (item === undefined ? [] : [place]))
  return places[index] ?? index
}

function isRecord(value: unknown): value is SoundInputs {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
