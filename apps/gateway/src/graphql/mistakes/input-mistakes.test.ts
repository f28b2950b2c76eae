import {
  type GraphQLInputType,
  isInputType,
  parse,
  parseValue,
  validateInputLiteral,
  validateInputValue,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { MISTAKES_MAX } from '#core/errors/errors.ts'
import { schema } from '../schema.ts'
import { inputMistakes, Literal } from './input-mistakes.ts'
import { requireVariables } from './variable-mistakes.ts'

function typeOf(name: string): GraphQLInputType {
  const type = schema.getType(name)
  if (!isInputType(type)) throw new Error(`${name} is no input`)
  return type
}

const inLiteral = (text: string, type: GraphQLInputType) => [
  ...inputMistakes(new Literal(parseValue(text)), type, ['input']),
]
const literalOf = (value: unknown) => JSON.stringify(value).replace(/"(\w+)":/g, '$1:')

test.each<[what: string, type: string, value: unknown, mistakes: Record<string, string>]>([
  ['missing', 'LoginInput', { password: 'a' }, { 'input,username': 'is required; expected a string.' }],
  [
    'null',
    'LoginInput',
    { username: null, password: 'a' },
    { 'input,username': 'is required; expected a string.' },
  ],
  [
    'unknown',
    'LoginInput',
    { username: 'a', password: 'a', pin: 1 },
    { 'input,pin': 'is not a known field.' },
  ],
  [
    'of the wrong type',
    'LoginInput',
    { password: ['a'], username: {} },
    { 'input,username': 'expected a string.', 'input,password': 'expected a string.' },
  ],
  [
    'not one of an enum',
    'UpdateUserInput',
    { userId: 'u', role: 'ROOT' },
    { 'input,role': 'expected one of ADMIN, PREMIUM, USER.' },
  ],
  [
    'an item of a list',
    'ChatInput',
    { agentId: 'a', query: 'q', files: ['a', null, 3] },
    { 'input,files,1': 'is required; expected a string.', 'input,files,2': 'expected a string.' },
  ],
  ['no object', 'ChatInput', 'a text', { input: 'expected an object.' }],
  [
    'within an object',
    'UpdateApiKeyInput',
    { keyId: 'k', limits: { chatPerMinute: 2 ** 40 } },
    { 'input,limits,chatPerMinute': 'expected an integer.' },
  ],
])('an input that is %s is named by its path, with what was expected', (_what, name, value, mistakes) => {
  for (const input of [value, new Literal(parseValue(literalOf(value)))]) {
    const found = [...inputMistakes(input, typeOf(name), ['input'])].map(({ field, text }) => [
      field.join(),
      text,
    ])
    expect(found).toEqual(Object.entries(mistakes))
  }
})

test('a variable is named by its first use, also within lists and fragments, and the search has an end', () => {
  const document = parse(`
    mutation ($name: String!, $file: String!, $files: [String!], $unused: Int = 1) { ...Login @include(if: true)
      a: chat(input: { agentId: "a", query: $name, files: ["a", $file] }) { text }
      b: chat(input: { agentId: "a", query: "q", files: $files }) { text } }
    fragment Login on Mutation { login(input: { username: $name, password: "p" }) { expiresIn } }`)
  const [operation] = document.definitions
  if (operation?.kind !== 'OperationDefinition') throw new Error('no operation')
  const files = Array.from({ length: 100_000 }, () => 5)
  const problemOf = (variables: Record<string, unknown>) => {
    try {
      return requireVariables({ schema, document, operation, variables })
    } catch (problem) {
      return problem
    }
  }
  expect(problemOf({ name: 'a', file: 'b' })).toBeUndefined()
  expect(problemOf({ files })).toMatchObject({
    reason: 'invalid_request',
    mistakes: Array.from({ length: MISTAKES_MAX }, (_, index) => ({
      field: [
        ['input', 'query'],
        ['input', 'files', 1],
        ['input', 'files', index - 2],
      ][Math.min(index, 2)],
    })),
  })
})

const VALUES = [
  undefined,
  null,
  '',
  'a text',
  'ADMIN',
  '2027-01-31T00:00:00Z',
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  true,
  [],
  ['a', null],
  {},
  { username: 'a', password: 'a' },
  { agentId: 'a', query: 'q', detail: null },
  { agentId: 'a', query: 'q', files: 'one', variables: { a: [1] } },
  { limits: { chatPerMinute: null, uploadPerMinute: '1' } },
]

const INPUTS = Object.keys(schema.getTypeMap()).filter(
  (name) => !name.startsWith('__') && isInputType(schema.getType(name)),
)

describe('what is a mistake is decided as graphql-js does, which would refuse it later', () => {
  test.each(INPUTS)('%s', (name) => {
    const type = typeOf(name)
    const isRefusedBy = (validate: (refuse: () => void) => void) => {
      let isRefused = false
      validate(() => {
        isRefused = true
      })
      return isRefused
    }
    for (const value of VALUES) {
      const isRefused = isRefusedBy((refuse) => validateInputValue(value, type, refuse))
      expect([value, [...inputMistakes(value, type, [])].length > 0]).toEqual([value, isRefused])
      if (value === undefined) continue
      const text = literalOf(value)
      const isWrong = isRefusedBy((refuse) => validateInputLiteral(parseValue(text), type, refuse))
      expect([text, inLiteral(text, type).length > 0]).toEqual([text, isWrong])
    }
  })
})
