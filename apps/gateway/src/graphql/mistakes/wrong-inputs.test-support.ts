import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  parseValue,
  validateInputLiteral,
  validateInputValue,
} from 'graphql'

/** What no answer and no line of the log may contain: every input of a wrong request carries it. */
export const MARKER = 'hunter2-SECRET'
/** The same for places that take a name without quotes, and for numbers. */
export const NAME_MARKER = 'hunter2SECRET'
export const NUMBER_MARKER = 86_753_098_675_309

/** A request for one field with something wrong in one of its inputs. */
export interface WrongRequest {
  /** The operation and the path of the field. */
  readonly field: string
  readonly name: string
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
  /** The path of the input whose type refuses the value; undefined where the form is right for it. */
  readonly wrongInput: string | undefined
}

type Path = readonly string[]
type Json = Readonly<Record<string, unknown>>

/**
 * Every wrong form of every input of every field that has arguments, at the root and below it: as literals, as one variable an
 * argument, and as one variable an input.
 */
export function* wrongRequests(schema: GraphQLSchema): Generator<WrongRequest> {
  for (const place of placesOf(schema)) {
    const { operation, field, wrap } = place
    for (const path of pathsOf(field.args)) {
      const input = inputAt(field.args, path)
      for (const [form, value] of Object.entries(WRONG)) {
        const name = `${operation} ${place.name}(${path.join('.')}): ${form}`
        const given = withValue(allOf(field.args), path, value)
        const of = (isWrong: boolean) => ({
          field: `${operation} ${place.name}`,
          wrongInput: isWrong ? path.join('.') : undefined,
        })
        yield {
          ...of(isWrongLiteral(value, input)),
          name: `${name}, literals`,
          query: `${operation} { ${wrap(`${field.name}${literalsOf(given)}${selectionOf(field)}`)} }`,
        }
        if (value instanceof Bare) continue
        yield {
          ...of(value === undefined ? isRequired(input) : isWrongValue(plain(value), input)),
          name: `${name}, variables`,
          ...inVariables(place, given),
        }
        yield {
          ...of(isWrongValue(plain(value), input)),
          name: `${name}, a variable of its own`,
          ...inOwnVariable(place, path, value),
        }
      }
    }
  }
}

/** Where a field is, and how an operation selects it there. */
interface Place {
  readonly operation: string
  readonly name: string
  readonly field: GraphQLField<unknown, unknown>
  wrap(selection: string): string
}

function placesOf(schema: GraphQLSchema): readonly Place[] {
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const
  const atRoots: Place[] = roots.flatMap(([operation, root]) =>
    Object.values(root?.getFields() ?? {}).map((field) => ({
      operation,
      name: field.name,
      field,
      wrap: (selection: string) => selection,
    })),
  )
  const seen = new Set<string>()
  const all: Place[] = []
  // Breadth first, so that each type is reached by a short way; one way to it is enough.
  const open = [...atRoots]
  for (const place of open) {
    const { field, name, operation, wrap } = place
    if (field.args.length > 0) all.push(place)
    const type = getNamedType(field.type)
    if (!isObjectType(type) || seen.has(type.name) || field.args.some(isRequiredArgument)) continue
    seen.add(type.name)
    for (const inner of Object.values(type.getFields())) {
      const within = (selection: string) => wrap(`${field.name} { ${selection} }`)
      open.push({ operation, name: `${name}.${inner.name}`, field: inner, wrap: within })
    }
  }
  return all
}

type Input = GraphQLArgument | GraphQLInputField

function isRequired(input: Input): boolean {
  return isNonNullType(input.type) && input.default === undefined && input.defaultValue === undefined
}

/** As graphql-js decides it. */
function isWrongValue(value: unknown, { type }: Input): boolean {
  let isWrong = false
  validateInputValue(value, type, () => {
    isWrong = true
  })
  return isWrong
}

function isWrongLiteral(value: unknown, input: Input): boolean {
  if (value === undefined) return isRequired(input)
  let isWrong = false
  validateInputLiteral(parseValue(literal(value)), input.type, () => {
    isWrong = true
  })
  return isWrong
}

/** A value that is written into a document without quotes. */
class Bare {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Some of these are right for some inputs; then the request has another mistake, or succeeds. */
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
  'a list of nulls': [null, null],
  'a list of enum values': [new Bare(NAME_MARKER), new Bare(NAME_MARKER)],
  'a list of everything': [MARKER, null, NUMBER_MARKER, true, [], {}],
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
  { operation, field, wrap }: Place,
  values: Json,
): Pick<WrongRequest, 'query' | 'variables'> {
  const used = field.args.filter(({ name }) => name in values)
  const definitions = used.map(({ name, type }) => `$my_${name}: ${type}`).join(', ')
  const uses = used.map(({ name }) => `${name}: $my_${name}`).join(', ')
  const variables = Object.fromEntries(used.map(({ name }) => [`my_${name}`, plain(values[name])]))
  const selection = wrap(`${field.name}(${uses})${selectionOf(field)}`)
  return { query: `${operation} (${definitions}) { ${selection} }`, variables }
}

/** The variable has a type of its own, which need not fit. */
function inOwnVariable(
  { operation, field, wrap }: Place,
  path: Path,
  value: unknown,
): Pick<WrongRequest, 'query' | 'variables'> {
  const given = withValue(allOf(field.args), path, new Bare('$mine'))
  const { type } = inputAt(field.args, path)
  const selection = wrap(`${field.name}${literalsOf(given)}${selectionOf(field)}`)
  return { query: `${operation} ($mine: ${type}) { ${selection} }`, variables: { mine: plain(value) } }
}

function inputAt(args: readonly GraphQLArgument[], [name, ...rest]: Path): Input {
  const first: Input | undefined = args.find((each) => each.name === name)
  const found = rest.reduce<Input | undefined>((outer, inner) => {
    const type = outer && getNullableType(outer.type)
    return isInputObjectType(type) ? type.getFields()[inner] : undefined
  }, first)
  if (found === undefined) throw new Error(`${name} has no ${rest.join('.')}`)
  return found
}

function plain(value: unknown): unknown {
  if (value instanceof Bare) return value.text
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
}
