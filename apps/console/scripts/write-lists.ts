import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isObjectType,
} from 'graphql'

/** The lists of the console by their names in its messages: the path of each in REST, and its field of Query in GraphQL. */
const LISTS = {
  audit: ['audit', 'auditEvents'],
  refusals: ['refusals', 'refusals'],
  conversations: ['conversations', 'conversations'],
  calls: ['calls', 'calls'],
  keys: ['api-keys', 'apiKeys'],
  users: ['users', 'users'],
  processes: ['processes', 'gatewayProcesses'],
} as const

/** What belongs to pages, orders and ranges, and is no condition. */
const NO_CONDITIONS = ['limit', 'cursor', 'format', 'from', 'to', 'timezone', 'order', 'order_by']

interface Parameter {
  readonly name: string
  readonly schema: { readonly maxLength?: number; readonly enum?: readonly string[] }
}

interface Contract {
  readonly paths: Readonly<Record<string, { readonly get: { readonly parameters: readonly Parameter[] } }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: Readonly<Record<string, unknown>> }>>
  }
}

const textOf = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')
const contract = JSON.parse(textOf('openapi.json')) as Contract
const schema = buildSchema(textOf('schema.graphql'))

/** Types of objects to which ids lead, and what the console calls such an id. */
const LED_TO: Readonly<Record<string, string>> = { User: 'user', ApiKey: 'key', Agent: 'agent', Call: 'call' }
const KINDS: Readonly<Record<string, string>> = {
  Int: 'number',
  SafeInt: 'number',
  DateTime: 'time',
  Boolean: 'flag',
  ID: 'id',
}

interface List {
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly query: GraphQLField<unknown, unknown>
  /** The type of its rows. */
  readonly row: string
}

const lists = Object.entries(LISTS).map(([name, [path, field]]): List => {
  const query = found(schema.getQueryType()?.getFields()[field], field)
  const result = getNamedType(query.type)
  const { nodes } = fieldsOf(result.name)
  return {
    name,
    parameters: found(contract.paths[`/api/v1/${path}`], path).get.parameters,
    query,
    row: getNamedType(nodes?.type ?? result).name,
  }
})

/**
 * Writes what the lists of the console are made of, as the contract has it: `conditions.ts` has the conditions of their addresses
 * and filters, which are loaded at the start, and `fields.ts` the fields of their rows.
 */
export async function writeLists(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'conditions.ts'), lists.map(conditionsOf).join(''))
  const fields = lists.map((list) => `  ${list.name}: {\n${linesOf(columnsOf(list), '    ')}\n  },\n`)
  await writeFile(join(folder, 'fields.ts'), `export const FIELDS = {\n${fields.join('')}} as const\n`)
}

/** The fragments that select these fields, by the name of the type with `Columns`. An object of a row would cost a query. */
export function columnFragments(): string {
  return lists
    .map((list) => {
      const fields = columnsOf(list).map(([, { field }]) => field)
      return `fragment ${list.row}Columns on ${list.row} { ${fields.join(' ')} }`
    })
    .join('\n')
}

function conditionsOf({ name, parameters, query, row }: List): string {
  const inputs = inputsOf(query)
  const conditions = new Map<string, object>()
  for (const { name: parameter, schema: limits } of parameters) {
    if (NO_CONDITIONS.includes(parameter)) continue
    const base = camel(parameter)
    const field = [base, `${base}Id`].find((input) => input in inputs) ?? ''
    const type = getNamedType(found(inputs[field], `${query.name}.${parameter}`))
    const objects = LED_TO[objectOf(row, field)]
    const words = isEnumType(type) ? (limits.enum ?? type.getValues().map((value) => value.name)) : undefined
    const kind = objects ?? (base === 'search' ? 'search' : words ? 'words' : conditionKind(type.name))
    // The first user is the one of the address; another has the name of its condition.
    conditions.set(objects === undefined || conditions.has(objects) ? base : objects, {
      ...{ kind, field, parameter, words: words?.map((word) => word.toUpperCase()) },
      ...(kind === 'text' && { maxLength: limits.maxLength }),
    })
  }
  const orders = parameters.find((parameter) => parameter.name === 'order_by')?.schema.enum
  const words = JSON.stringify(orders?.map((word) => word.toUpperCase()))
  return [
    `export const ${upper(name)} = {\n${[...conditions].length === 0 ? '' : `${linesOf([...conditions], '  ')}\n`}} as const\n`,
    orders && `export const ${upper(name)}_ORDERS = ${words} as const\n`,
  ].join('')
}

/** What selects the rows: the fields of the filter of a list, or else its arguments. */
function inputsOf({ args }: List['query']): Readonly<Record<string, GraphQLInputType>> {
  const filter = args.find((argument) => argument.name === 'filter')
  const type = filter && getNamedType(filter.type)
  const inputs = isInputObjectType(type) ? Object.values(type.getFields()) : args
  return Object.fromEntries(inputs.map((input) => [input.name, input.type]))
}

function upper(name: string): string {
  return name.replace(/[A-Z]/g, '_$&').toUpperCase()
}

function conditionKind(type: string): string {
  const kind = KINDS[type] ?? 'text'
  return kind === 'id' ? 'text' : kind
}

/** A text may be an id as well, such as that of a request, and a number the milliseconds that something took. */
function kindOf(type: string, name: string): string {
  if (name.endsWith('Ms')) return 'duration'
  return KINDS[type] ?? (name.endsWith('Id') ? 'id' : 'text')
}

/** The fields of a record that are no objects in GraphQL, by their names, without the `Id` of what leads to an object. */
function columnsOf({ row }: List) {
  const fields = fieldsOf(row)
  const record = found(contract.components.schemas[row], row)
  return Object.keys(record.properties).flatMap((property) => {
    const base = camel(property)
    const field = [base, `${base}Id`].find((name) => isLeaf(fields[name]))
    if (field === undefined) return []
    const type = found(fields[field], field).type
    const objects = LED_TO[objectOf(row, field)]
    const leaf = getNamedType(type)
    const isMany = String(type).startsWith('[')
    const kind = objects ?? (isMany ? 'texts' : isEnumType(leaf) ? 'words' : kindOf(leaf.name, base))
    return [[objects === undefined ? base : base.replace(/Id$/, ''), { kind, field }] as const]
  })
}

function fieldsOf(name: string): Readonly<Record<string, GraphQLField<unknown, unknown>>> {
  const type = schema.getType(name)
  return isObjectType(type) ? type.getFields() : {}
}

function isLeaf(field: GraphQLField<unknown, unknown> | undefined): boolean {
  if (field === undefined || field.args.length > 0) return false
  const type = getNamedType(field.type)
  return isLeafType(type) && !type.name.startsWith('JSON')
}

/** The type of the object to which an id of a row leads. */
function objectOf(row: string, field: string): string {
  const object = field.endsWith('Id') ? fieldsOf(row)[field.slice(0, -2)] : undefined
  return object === undefined ? '' : getNamedType(object.type).name
}

function linesOf(entries: readonly (readonly [string, object])[], indent: string): string {
  return entries.map(([key, value]) => `${indent}${key}: ${JSON.stringify(value)},`).join('\n')
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function found<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`the contract has no ${name}`)
  return value
}
