import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
} from 'graphql'

/** What no answer and no line of the log may contain: every input of a wrong request carries it. */
export const MARKER = 'hunter2-SECRET'
/** The same for places that take a name without quotes, and for numbers. */
export const NAME_MARKER = 'hunter2SECRET'
export const NUMBER_MARKER = 86_753_098_675_309

/** A request for one field with something wrong in one of its inputs. */
export interface WrongRequest {
  readonly name: string
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
}

type Path = readonly string[]
type Json = Readonly<Record<string, unknown>>

/** Every wrong form of every input of every operation, as literals, as one variable an argument, and as one variable an input. */
export function* wrongRequests(schema: GraphQLSchema): Generator<WrongRequest> {
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const
  for (const [operation, root] of roots) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      for (const path of pathsOf(field.args)) {
        for (const [form, value] of Object.entries(WRONG)) {
          const name = `${operation} ${field.name}(${path.join('.')}): ${form}`
          const given = withValue(allOf(field.args), path, value)
          yield {
            name: `${name}, literals`,
            query: `${operation} { ${field.name}${literalsOf(given)}${selectionOf(field)} }`,
          }
          if (value instanceof Bare) continue
          yield { name: `${name}, variables`, ...inVariables(operation, field, given) }
          yield { name: `${name}, a variable of its own`, ...inOwnVariable(operation, field, path, value) }
        }
      }
    }
  }
}

/** A value that is written into a document without quotes. */
class Bare {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Some of these are right for some inputs; then the request says something else that is wrong, or succeeds in silence. */
const WRONG: Readonly<Record<string, unknown>> = {
  'a text': MARKER,
  'an enum value': new Bare(NAME_MARKER),
  'a number': NUMBER_MARKER,
  'a fraction': NUMBER_MARKER / 1_000,
  true: true,
  'null beside secrets': null,
  'nothing beside secrets': undefined,
  'an empty object beside secrets': {},
  'an object': { inner: MARKER },
  'a list': [MARKER],
  'a list of lists': [[MARKER, { inner: MARKER }]],
  'a list of objects': [{ inner: MARKER }, NUMBER_MARKER],
  'a text of many lines': `${MARKER}\n"""\u0000${MARKER}`,
}

function pathsOf(args: readonly GraphQLArgument[]): Path[] {
  return args.flatMap(({ name, type }) => [[name], ...innerPaths(type).map((inner) => [name, ...inner])])
}

function innerPaths(type: GraphQLInputType): Path[] {
  const named = getNullableType(type)
  if (!isInputObjectType(named)) return []
  return Object.values(named.getFields()).flatMap((field) => [
    [field.name],
    ...innerPaths(field.type).map((inner) => [field.name, ...inner]),
  ])
}

/** All arguments in a form that is right, with the marker wherever a text is. */
function allOf(args: readonly GraphQLArgument[]): Json {
  // The two directions of a page exclude each other.
  const given = args.filter(({ name }) => !['last', 'before', 'after'].includes(name))
  return Object.fromEntries(given.map(({ name, type }) => [name, rightValue(type)]))
}

function rightValue(type: GraphQLInputType): unknown {
  const known = getNullableType(type)
  if (isListType(known)) return [rightValue(known.ofType)]
  if (isInputObjectType(known)) {
    return Object.fromEntries(
      Object.values(known.getFields()).map((field) => [field.name, rightValue(field.type)]),
    )
  }
  if (isEnumType(known)) return new Bare(known.getValues()[0]?.name ?? '')
  return RIGHT[known.name] ?? MARKER
}

const RIGHT: Readonly<Record<string, unknown>> = {
  Boolean: false,
  Int: 1,
  SafeInt: 1,
  DateTime: '2027-01-31T00:00:00Z',
  JSONObject: { name: MARKER },
}

function withValue(values: Json, [name = '', ...rest]: Path, value: unknown): Json {
  if (rest.length === 0) return { ...values, [name]: value }
  const inner = values[name]
  return { ...values, [name]: withValue((inner ?? {}) as Json, rest, value) }
}

function selectionOf({ type }: GraphQLField<unknown, unknown>): string {
  return isLeafType(getNamedType(type)) ? '' : ' { __typename }'
}

function literalsOf(values: Json): string {
  const parts = Object.entries(values).filter(([, value]) => value !== undefined)
  return parts.length === 0
    ? ''
    : `(${parts.map(([name, value]) => `${name}: ${literal(value)}`).join(', ')})`
}

function literal(value: unknown): string {
  if (value instanceof Bare) return value.text
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{ ${parts.map(([name, inner]) => `${name}: ${literal(inner)}`).join(', ')} }`
}

function inVariables(
  operation: string,
  field: GraphQLField<unknown, unknown>,
  values: Json,
): Pick<WrongRequest, 'query' | 'variables'> {
  const used = field.args.filter(({ name }) => name in values)
  const definitions = used.map(({ name, type }) => `$my_${name}: ${type}`).join(', ')
  const uses = used.map(({ name }) => `${name}: $my_${name}`).join(', ')
  const variables = Object.fromEntries(used.map(({ name }) => [`my_${name}`, plain(values[name])]))
  return { query: `${operation} (${definitions}) { ${field.name}(${uses})${selectionOf(field)} }`, variables }
}

/** The variable has a type of its own, which need not fit. */
function inOwnVariable(
  operation: string,
  field: GraphQLField<unknown, unknown>,
  path: Path,
  value: unknown,
): Pick<WrongRequest, 'query' | 'variables'> {
  const given = withValue(allOf(field.args), path, new Bare('$mine'))
  const type = typeAt(field.args, path)
  const query = `${operation} ($mine: ${type}) { ${field.name}${literalsOf(given)}${selectionOf(field)} }`
  return { query, variables: { mine: plain(value) } }
}

function typeAt(args: readonly GraphQLArgument[], [name, ...rest]: Path): GraphQLInputType | undefined {
  const type = args.find((each) => each.name === name)?.type
  return rest.reduce<GraphQLInputType | undefined>((outer, inner) => {
    const known = outer === undefined ? undefined : getNullableType(outer)
    return isInputObjectType(known) ? known.getFields()[inner]?.type : undefined
  }, type)
}

function plain(value: unknown): unknown {
  if (value instanceof Bare) return value.text
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
}
