import { buildSchema, getIntrospectionQuery, getOperationAST, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { OPERATION_LIMITS, type OperationLimits, requireSmallOperation } from './operation-limits.ts'

const schema = buildSchema(`
  type Query { me: User, users(first: Int, last: Int, after: String): Users, nodes(ids: [ID!]!): [User], agents: [Agent!]! }
  type Mutation { rename: User }
  type Users { edges: [Edge!]!, nodes: [User!]!, totalCount: Int }
  type Edge { node: User! }
  type User { id: ID!, name: String, friends(first: Int, last: Int): Users }
  type Agent { id: ID! }
`)

function check(text: string, limits: Partial<OperationLimits> = {}, variables: Record<string, unknown> = {}) {
  const document = parse(text)
  const operation = getOperationAST(document)
  if (operation == null) throw new Error('no operation')
  requireSmallOperation({ schema, document, operation, variables }, { ...OPERATION_LIMITS, ...limits })
}

/** The lowest limit with which the operation is accepted. */
function measured(
  name: keyof OperationLimits,
  text: string,
  variables: Record<string, unknown> = {},
): number {
  for (let limit = 0; ; limit += 1) {
    try {
      check(text, { [name]: limit }, variables)
      return limit
    } catch (error) {
      expect(error).toMatchObject({ reason: 'operation_too_large' })
    }
  }
}

describe('the limits of an operation', () => {
  test('depth counts the levels of fields, through fragments as well', () => {
    expect(measured('depth', '{ me { id } }')).toBe(2)
    expect(measured('depth', '{ ... { me { ...F } } } fragment F on User { friends { nodes { id } } }')).toBe(
      4,
    )
  })

  test('cost counts every alias, and fragments as often as they are used', () => {
    expect(measured('cost', '{ a: me { id } b: me { id } }')).toBe(4)
    expect(measured('cost', '{ a: me { ...F } b: me { ...F } } fragment F on User { id name }')).toBe(6)
  })

  test('page sizes multiply what is below the items of a connection', () => {
    // users, totalCount, 5 × nodes is one list: nodes, then 5 × (id, friends), then 5 × nodes, then 5 × 3 × id.
    const query = '{ users(first: 5) { totalCount nodes { id friends(first: 3) { nodes { id } } } } }'
    expect(measured('cost', query)).toBe(1 + 1 + 1 + 5 + 5 + 5 + 15)
    expect(measured('cost', '{ users(last: 5) { edges { node { id } } } }')).toBe(1 + 1 + 5 + 5)
  })

  test('a page size counts from a variable, its default, and the default of the field', () => {
    const query = 'query ($n: Int = 7) { users(first: $n) { nodes { id } } }'
    expect(measured('cost', query, { n: 4 })).toBe(6)
    expect(measured('cost', query)).toBe(9)
    expect(measured('cost', '{ users { nodes { id } } }')).toBe(22)
  })

  test('a page size that is not valid never makes an operation cheaper', () => {
    for (const size of ['-5', '0', '1000000']) {
      expect(measured('cost', `{ users(first: ${size}) { nodes { id } } }`)).toBe(102)
    }
  })

  test('lists of ids count as long as they are, other lists as ten', () => {
    expect(measured('cost', '{ nodes(ids: ["a", "b", "c"]) { id } }')).toBe(4)
    expect(measured('cost', 'query ($i: [ID!]!) { nodes(ids: $i) { id } }', { i: ['a', 'b'] })).toBe(3)
    expect(measured('cost', '{ agents { id } }')).toBe(11)
  })

  test('lists count once for a level, and again in another place of the document or below another mutation', () => {
    expect(measured('lists', '{ me { id } agents { id } nodes(ids: ["a"]) { id } }')).toBe(0)
    expect(
      measured('lists', '{ a: users { nodes { id } } b: users { nodes { friends { totalCount } } } }'),
    ).toBe(3)
    const fragment = 'fragment F on User { friends { nodes { id } } }'
    expect(measured('lists', `{ a: me { ...F } b: me { ...F } } ${fragment}`)).toBe(1)
    expect(measured('lists', `{ a: me { ...F } users { nodes { ...F } } } ${fragment}`)).toBe(3)
    expect(measured('lists', `mutation { a: rename { ...F } b: rename { ...F } } ${fragment}`)).toBe(2)
    const many = Array.from({ length: 50 }, (_, index) => `a${index}: users(first: ${index}) { totalCount }`)
    expect(() => check(`{ ${many.join(' ')} }`)).toThrow(
      expect.objectContaining({ detail: 'operation: expected at most 20 lists and reports.' }),
    )
  })

  test('fragments that double each other are refused without being expanded', () => {
    const doubling = Array.from(
      { length: 60 },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    )
    const text = `{ ...F0 } ${doubling.join(' ')} fragment F60 on Query { me { id } }`
    expect(() => check(text)).toThrow(
      expect.objectContaining({ detail: expect.stringContaining('could return more than 25000 values') }),
    )
  })

  test.each([
    '{ a: __schema { types { name } } b: __schema { types { name } } }',
    '{ __schema { a: types { name } b: types { fields { name } } } }',
    '{ __schema { ...S types { kind } } } fragment S on __Schema { types { name } }',
  ])('the whole schema is given once: %s', (text) => {
    expect(() => check(text)).toThrow(expect.objectContaining({ reason: 'operation_too_large' }))
  })

  test('the query of tools for the schema is within the limits', () => {
    expect(() => check(getIntrospectionQuery())).not.toThrow()
    expect(() => check('{ a: __type(name: "User") { name } b: __type(name: "Edge") { name } }')).not.toThrow()
  })

  test('reading the schema itself is no depth', () => {
    const types = '{ __schema { types { fields { type { ofType { ofType { ofType { name } } } } } } } }'
    expect(measured('depth', types)).toBe(1)
  })
})
