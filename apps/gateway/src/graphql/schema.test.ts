import { readFileSync } from 'node:fs'
import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { breakingChanges } from '../../../../scripts/breaking-changes.ts'
import { printedSchema, schema } from './schema.ts'

const committed = readFileSync(new URL('../../../../schema.graphql', import.meta.url), 'utf8')

const types = Object.values(schema.getTypeMap()).filter(
  (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
)
const ROOTS = ['Query', 'Mutation', 'Subscription']

/** Every type, field, argument and value by its coordinate. */
const parts = types.flatMap((type): [string, { description?: string | null | undefined }][] => {
  if (isEnumType(type)) return [[type.name, type], ...type.getValues().map(named(type.name))]
  if (isInputObjectType(type))
    return [[type.name, type], ...Object.values(type.getFields()).map(named(type.name))]
  if (!isObjectType(type) && !isInterfaceType(type)) return [[type.name, type]]
  const fields = Object.values(type.getFields()).flatMap((field) => [
    named(type.name)(field),
    ...field.args.map(named(`${type.name}.${field.name}`)),
  ])
  return [[type.name, type], ...fields]
})

function named(owner: string) {
  return <Part extends { name: string; description?: string | null | undefined }>(
    part: Part,
  ): [string, Part] => [`${owner}.${part.name}`, part]
}

test('schema.graphql matches the schema; "pnpm contract" regenerates it', () => {
  const printed = printedSchema()
  const { breaking } = breakingChanges(committed, printed)
  expect(breaking, 'changes that break clients').toEqual([])
  expect(printed).toBe(committed)
})

test('every type, field, argument and value has a description, which is a sentence', () => {
  const without = parts.filter(([, { description }]) => !/[.)]$/.test(description ?? ''))
  expect(without.map(([name]) => name)).toEqual([])
  expect(parts.length).toBeGreaterThan(300)
})

test('names have the case of GraphQL', () => {
  for (const type of types) {
    expect(type.name).toMatch(/^[A-Z][A-Za-z]+$/)
    // Clients compare the members of ErrorReason with `extensions.code`, which is the reason of REST.
    const member = type.name === 'ErrorReason' ? /^[a-z][a-z_]*$/ : /^[A-Z][A-Z0-9_]*$/
    if (isEnumType(type)) for (const { name } of type.getValues()) expect(name).toMatch(member)
    if (isObjectType(type) || isInputObjectType(type)) {
      for (const name of Object.keys(type.getFields())) expect(name).toMatch(/^[a-z][A-Za-z0-9]*$/)
    }
  }
})

test('a field of a root is nullable, so that its refusal keeps the results of the others', () => {
  for (const root of ROOTS) {
    const type = schema.getType(root)
    const fields = isObjectType(type) ? Object.values(type.getFields()) : []
    expect(fields.filter((field) => isNonNullType(field.type)).map(({ name }) => name)).toEqual([])
  }
})

test('a mutation takes one input, if any, and returns a type of its own, so that both can grow', () => {
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {})
  for (const { name, args, type } of mutations) {
    const own = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
    expect(args.map((argument) => `${argument.name}: ${argument.type}`)).toEqual(
      name === 'logout' ? [] : [`input: ${own}Input!`],
    )
    expect(String(type)).toBe(name === 'chat' ? 'ChatReply' : `${own}Payload`)
    const payload = schema.getType(String(type))
    expect(isObjectType(payload) && !payload.getInterfaces().some((each) => each.name === 'Node')).toBe(true)
  }
  expect(mutations.length).toBeGreaterThan(10)
})

test('lists that clients page through are connections of Relay with a total', () => {
  const connections = types.filter(({ name }) => name.endsWith('Connection')).filter(isObjectType)
  expect(connections.length).toBeGreaterThan(3)
  for (const connection of connections) {
    const { pageInfo, edges, nodes, totalCount } = connection.getFields()
    expect(String(pageInfo?.type)).toBe('PageInfo!')
    // Platforms do not say how many messages a conversation has.
    if (connection.name !== 'MessageConnection') expect(String(totalCount?.type)).toMatch(/^Int!?$/)
    const item = getNamedType(nodes?.type ?? connection).name
    expect(String(nodes?.type)).toBe(`[${item}!]!`)
    expect(String(edges?.type)).toBe(`[${item}Edge!]!`)
    expect(connection.name).toBe(`${item}Connection`)
  }
})

describe('a change that breaks clients is named', () => {
  const before = 'type Query { a(b: Int): String! } enum Colour { RED }'
  test.each([
    ['type Query { c: String } enum Colour { RED }', 'FIELD_REMOVED: Field Query.a was removed.'],
    ['type Query { a(b: Int): String } enum Colour { RED }', 'FIELD_CHANGED_KIND'],
    ['type Query { a(b: Int!): String! } enum Colour { RED }', 'ARG_CHANGED_KIND'],
    ['type Query { a(b: Int, c: Int!): String! } enum Colour { RED }', 'REQUIRED_ARG_ADDED'],
    ['type Query { a(b: Int): String! }', 'TYPE_REMOVED'],
  ])('%s', (after, change) => {
    expect(breakingChanges(before, after).breaking.join()).toContain(change)
  })

  test('an addition is none', () => {
    const after = 'type Query { a(b: Int, c: Int): String! d: Int } enum Colour { RED }'
    expect(breakingChanges(before, after).breaking).toEqual([])
  })
})
