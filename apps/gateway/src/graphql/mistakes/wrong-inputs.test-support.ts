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
  valueFromASTUntyped,
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
/** Inputs by their names, each as a document has it; those without a text are left out. */
interface Inputs {
  readonly [name: string]: string | Inputs
}

/**
 * Every wrong form of every input of every field that has arguments, at the root and below it: as literals, as one variable an
 * argument, and as one variable an input.
 */
export function* wrongRequests(schema: GraphQLSchema): Generator<WrongRequest> {
  for (const place of placesOf(schema)) {
    const { operation, field, wrap } = place
    for (const path of pathsOf(field.args)) {
      const input = inputAt(field.args, path)
      for (const [form, text] of Object.entries(WRONG)) {
        const name = `${operation} ${place.name}(${path.join('.')}): ${form}`
        const given = withValue(allOf(field.args), path, text)
        const isWrong = text === '' ? isRequired(input) : isWrongValue(plain(text), input)
        const of = (isWrong: boolean) => ({
          field: `${operation} ${place.name}`,
          wrongInput: isWrong ? path.join('.') : undefined,
        })
        yield {
          ...of(text === '' ? isRequired(input) : isWrongLiteral(text, input)),
          name: `${name}, literals`,
          query: `${operation} { ${wrap(`${field.name}${argumentsOf(given)}${selectionOf(field)}`)} }`,
        }
        yield { ...of(isWrong), name: `${name}, variables`, ...inVariables(place, given) }
        yield {
          ...of(isWrongValue(plain(text), input)),
          name: `${name}, a variable of its own`,
          ...inOwnVariable(place, path, text),
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

function isWrongLiteral(text: string, { type }: Input): boolean {
  let isWrong = false
  validateInputLiteral(parseValue(text), type, () => {
    isWrong = true
  })
  return isWrong
}

/** Some of these are right for some inputs; then the request has another mistake, or succeeds. */
const WRONG: Readonly<Record<string, string>> = {
  'a text': `"${MARKER}"`,
  'an enum value': NAME_MARKER,
  'a number': `${NUMBER_MARKER}`,
  'a fraction': `${NUMBER_MARKER / 1_000}`,
  true: 'true',
  'null beside secrets': 'null',
  'nothing beside secrets': '',
  'an empty object beside secrets': '{}',
  'an object': `{ inner: "${MARKER}" }`,
  'a list': `["${MARKER}"]`,
  'a list of lists': `[["${MARKER}", { inner: "${MARKER}" }]]`,
  'a list of objects': `[{ inner: "${MARKER}" }, ${NUMBER_MARKER}]`,
  'a list of nulls': '[null, null]',
  'a list of enum values': `[${NAME_MARKER}, ${NAME_MARKER}]`,
  'a list of everything': `["${MARKER}", null, ${NUMBER_MARKER}, true, [], {}]`,
  'a text of many lines': JSON.stringify(`${MARKER}\n"""\u0000${MARKER}`),
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
function allOf(args: readonly (GraphQLArgument | GraphQLInputField)[]): Inputs {
  // The two directions of a page exclude each other.
  const given = args.filter(({ name }) => !['last', 'before', 'after'].includes(name))
  return Object.fromEntries(given.map(({ name, type }) => [name, right(type)]))
}

function right(type: GraphQLInputType): string | Inputs {
  const known = getNullableType(type)
  if (isListType(known)) return `[${literal(right(known.ofType))}]`
  if (isInputObjectType(known)) return allOf(Object.values(known.getFields()))
  return isEnumType(known) ? (known.getValues()[0]?.name ?? '') : (RIGHT[known.name] ?? `"${MARKER}"`)
}

const RIGHT: Readonly<Record<string, string>> = {
  Boolean: 'false',
  Int: '1',
  SafeInt: '1',
  DateTime: '"2027-01-31T00:00:00Z"',
  JSONObject: `{ name: "${MARKER}" }`,
}

function withValue(inputs: Inputs, [name = '', ...rest]: Path, text: string): Inputs {
  const inner = inputs[name]
  if (rest.length === 0 || inner === undefined || typeof inner === 'string')
    return { ...inputs, [name]: text }
  return { ...inputs, [name]: withValue(inner, rest, text) }
}

function selectionOf({ type }: GraphQLField<unknown, unknown>): string {
  return isLeafType(getNamedType(type)) ? '' : ' { __typename }'
}

function literal(input: string | Inputs): string {
  if (typeof input === 'string') return input
  const given = Object.entries(input).filter(([, inner]) => inner !== '')
  return `{ ${given.map(([name, inner]) => `${name}: ${literal(inner)}`).join(', ')} }`
}

function argumentsOf(inputs: Inputs): string {
  const text = literal(inputs).slice(1, -1).trim()
  return text === '' ? '' : `(${text})`
}

/** The same as JSON has it; undefined if it is left out. */
function plain(input: string | Inputs): unknown {
  return input === '' ? undefined : valueFromASTUntyped(parseValue(literal(input)))
}

type Called = Pick<WrongRequest, 'query' | 'variables'>

function inVariables({ operation, field, wrap }: Place, inputs: Inputs): Called {
  const used = field.args.filter(({ name }) => name in inputs)
  const definitions = used.map(({ name, type }) => `$my_${name}: ${type}`).join(', ')
  const uses = used.map(({ name }) => `${name}: $my_${name}`).join(', ')
  const variables = Object.fromEntries(used.map(({ name }) => [`my_${name}`, plain(inputs[name] ?? '')]))
  const selection = wrap(`${field.name}(${uses})${selectionOf(field)}`)
  return { query: `${operation} (${definitions}) { ${selection} }`, variables }
}

/** The variable has a type of its own, which need not fit. */
function inOwnVariable({ operation, field, wrap }: Place, path: Path, text: string): Called {
  const given = withValue(allOf(field.args), path, '$mine')
  const { type } = inputAt(field.args, path)
  const selection = wrap(`${field.name}${argumentsOf(given)}${selectionOf(field)}`)
  return { query: `${operation} ($mine: ${type}) { ${selection} }`, variables: { mine: plain(text) } }
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
