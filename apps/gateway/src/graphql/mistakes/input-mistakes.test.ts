import {
  type GraphQLInputType,
  isInputType,
  parse,
  parseValue,
  validateInputLiteral,
  validateInputValue,
  valueFromASTUntyped,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { MISTAKES_MAX } from '#core/base/errors/errors.ts'
import { joinPath } from '#core/base/values/field-path.ts'
import { schema } from '../schema.ts'
import { inputMistakes, Literal } from './input-mistakes.ts'
import { requireVariables } from './variable-mistakes.ts'

function typeOf(name: string): GraphQLInputType {
  const type = schema.getType(name)
  if (!isInputType(type)) throw new Error(`${name} is no input`)
  return type
}

const TIME = 'expected an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z.'

test.each([
  ['LoginInput', '{ password: "a" }', ['username: is required; expected a string.']],
  ['LoginInput', '{ username: null, password: "a" }', ['username: is required; expected a string.']],
  ['LoginInput', '{ username: "a", password: "a", pin: 1 }', ['pin: is not a known field.']],
  [
    'LoginInput',
    '{ password: ["a"], username: {} }',
    ['username', 'password'].map((name) => `${name}: expected a string.`),
  ],
  ['UpdateUserInput', '{ userId: "u", role: "ROOT" }', ['role: expected one of ADMIN, PREMIUM, USER.']],
  ['ChatInput', '{ agentId: "a", query: "q", files: ["a", 3] }', ['files[1]: expected a string.']],
  ['ChatInput', '{ agentId: "a", query: "q", files: [null] }', ['files[0]: is required; expected a string.']],
  [
    'UpdateApiKeyInput',
    '{ keyId: "k", limits: { chatPerMinute: 1099511627776 } }',
    ['limits.chatPerMinute: expected an integer.'],
  ],
  ['CallFilter', '{ from: 5 }', [`from: ${TIME}`]],
  ['ChatInput', '"a text"', [': expected an object.']],
])(
  'what is wrong in a %s that is %s is named by its path, with what was expected',
  (name, text, mistakes) => {
    const node = parseValue(text)
    for (const input of [valueFromASTUntyped(node), new Literal(node)]) {
      const found = [...inputMistakes(input, typeOf(name), [])]
      expect(found.map(({ field, text }) => `${joinPath(field)}: ${text}`)).toEqual(mistakes)
    }
  },
)

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
      const node = parseValue(JSON.stringify(value).replace(/"(\w+)":/g, '$1:'))
      const isWrong = isRefusedBy((refuse) => validateInputLiteral(node, type, refuse))
      expect([value, [...inputMistakes(new Literal(node), type, [])].length > 0]).toEqual([value, isWrong])
    }
  })
})
