import {
  type ArgumentNode,
  coerceInputLiteral,
  coerceInputValue,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type ObjectFieldNode,
  type ValueNode,
} from 'graphql'
import type { Mistake } from '#core/base/errors/errors.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import { callerName } from '#core/requests/input/caller-name.ts'

/** An input as a document has it. What a variable in it gives is not known there, and no mistake. */
export class Literal {
  readonly node: ValueNode

  constructor(node: ValueNode) {
    this.node = node
  }
}

type Inputs = Readonly<Record<string, unknown>>

/**
 * Finds what is wrong with a {@link Literal} or with the value of a variable, in the order of the schema, and says so by places and
 * types. graphql-js only decides which values a scalar or an enum takes: its texts repeat them, and its search has no bound, while
 * this one ends with its reader.
 */
export function* inputMistakes(
  input: unknown,
  type: GraphQLInputType,
  field: FieldPath,
): Generator<Mistake, void> {
  if (input instanceof Literal && input.node.kind === Kind.VARIABLE) return
  const given = opened(input)
  const known = getNullableType(type)
  if (given === undefined || given === null) {
    if (isNonNullType(type)) yield { field, text: `is required; expected ${expected(known)}.` }
  } else if (isListType(known)) {
    // A single value stands for a list of one.
    if (!Array.isArray(given)) yield* inputMistakes(input, known.ofType, field)
    else
      for (const [index, item] of given.entries()) yield* inputMistakes(item, known.ofType, [...field, index])
  } else if (isInputObjectType(known) && isInputs(given)) {
    yield* mistakesOfFields(given, Object.values(known.getFields()), field)
  } else if (isInputObjectType(known) || !isTaken(input, known)) {
    yield { field, text: `expected ${expected(known)}.` }
  }
}

/** The same for the fields of an input object, or for arguments. */
export function* mistakesOfFields(
  given: Inputs,
  known: readonly (GraphQLArgument | GraphQLInputField)[],
  within: FieldPath,
  kind = 'field',
): Generator<Mistake, void> {
  for (const inner of known) {
    const input = Object.hasOwn(given, inner.name) ? given[inner.name] : undefined
    const hasDefault = inner.default !== undefined || inner.defaultValue !== undefined
    if (input === undefined && hasDefault) continue
    yield* inputMistakes(input, inner.type, [...within, inner.name])
  }
  const names = new Set(known.map(({ name }) => name))
  for (const name of Object.keys(given)) {
    if (!names.has(name)) yield { field: [...within, callerName(name)], text: `is not a known ${kind}.` }
  }
}

/** The values of arguments or of the fields of an object. */
export function literalsOf(nodes: readonly (ArgumentNode | ObjectFieldNode)[] = []): Inputs {
  return Object.fromEntries(nodes.map(({ name, value }) => [name.value, new Literal(value)]))
}

/** The form that a literal would have as the value of a variable, on its outermost level. */
function opened(input: unknown): unknown {
  if (!(input instanceof Literal)) return input
  const { node } = input
  if (node.kind === Kind.NULL) return null
  if (node.kind === Kind.LIST) return node.values.map((item) => new Literal(item))
  return node.kind === Kind.OBJECT ? literalsOf(node.fields) : input
}

function isInputs(given: unknown): given is Inputs {
  return typeof given === 'object' && !Array.isArray(given) && !(given instanceof Literal)
}

/** Whether a scalar or an enum takes an input. */
function isTaken(input: unknown, type: GraphQLInputType): boolean {
  const taken =
    input instanceof Literal ? coerceInputLiteral(input.node, type) : coerceInputValue(input, type)
  return taken !== undefined
}

/** The end of the sentence "expected …" for an input of this type. */
function expected(type: GraphQLInputType): string {
  const known = getNullableType(type)
  if (isListType(known)) return `a list, each item ${expected(known.ofType)}`
  if (isInputObjectType(known)) return 'an object'
  if (!isEnumType(known)) return SCALARS[known.name] ?? 'a valid value'
  const names = known.getValues().map(({ name }) => name)
  return `one of ${names.join(', ')}`
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
