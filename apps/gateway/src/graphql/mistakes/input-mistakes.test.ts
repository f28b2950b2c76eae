import {
  type GraphQLInputType,
  isInputType,
  parseValue,
  validateInputLiteral,
  validateInputValue,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { MISTAKES_MAX } from '#core/errors/errors.ts'
import { schema } from '../schema.ts'
import { checkLiteral, checkValue, type InputMistake } from './input-mistakes.ts'

function typeOf(name: string): GraphQLInputType {
  const type = schema.getType(name)
  if (!isInputType(type)) throw new Error(`${name} is no input`)
  return type
}

function inValue(value: unknown, type: GraphQLInputType): InputMistake[] {
  const mistakes: InputMistake[] = []
  checkValue(value, type, ['input'], (mistake) => mistakes.push(mistake) < MISTAKES_MAX)
  return mistakes
}

function inLiteral(text: string, type: GraphQLInputType): InputMistake[] {
  const mistakes: InputMistake[] = []
  checkLiteral(parseValue(text), type, ['input'], (mistake) => mistakes.push(mistake) < MISTAKES_MAX)
  return mistakes
}

describe('a mistake has the path of its input and says what was expected', () => {
  test.each<[string, string, unknown, string, InputMistake[]]>([
    [
      'missing',
      'LoginInput',
      { password: 'a' },
      '{ password: "a" }',
      [{ field: ['input', 'username'], text: 'is required; expected a string.' }],
    ],
    [
      'null',
      'LoginInput',
      { username: null, password: 'a' },
      '{ username: null, password: "a" }',
      [{ field: ['input', 'username'], text: 'is required; expected a string.' }],
    ],
    [
      'unknown',
      'LoginInput',
      { username: 'a', password: 'a', pin: 1 },
      '{ username: "a", password: "a", pin: 1 }',
      [{ field: ['input', 'pin'], text: 'is not a known field.' }],
    ],
    [
      'of the wrong type',
      'LoginInput',
      { username: {}, password: ['a'] },
      '{ username: {}, password: ["a"] }',
      [
        { field: ['input', 'username'], text: 'expected a string.' },
        { field: ['input', 'password'], text: 'expected a string.' },
      ],
    ],
    [
      'not one of an enum',
      'UpdateUserInput',
      { userId: 'u', role: 'ROOT' },
      '{ userId: "u", role: ROOT }',
      [{ field: ['input', 'role'], text: 'expected one of ADMIN, PREMIUM, USER.' }],
    ],
    [
      'an item of a list',
      'ChatInput',
      { agentId: 'a', query: 'q', files: ['a', null, 3] },
      '{ agentId: "a", query: "q", files: ["a", null, 3] }',
      [
        { field: ['input', 'files', 1], text: 'is required; expected a string.' },
        { field: ['input', 'files', 2], text: 'expected a string.' },
      ],
    ],
    ['no object', 'ChatInput', 'a text', '"a text"', [{ field: ['input'], text: 'expected an object.' }]],
    [
      'within an object',
      'UpdateApiKeyInput',
      { keyId: 'k', limits: { chatPerMinute: 2 ** 40 } },
      `{ keyId: "k", limits: { chatPerMinute: ${2 ** 40} } }`,
      [{ field: ['input', 'limits', 'chatPerMinute'], text: 'expected an integer.' }],
    ],
    [
      'no time',
      'CallFilter',
      { from: 5 },
      '{ from: 5 }',
      [
        {
          field: ['input', 'from'],
          text: 'expected an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z.',
        },
      ],
    ],
    ['nothing', 'LoginInput', { username: 'a', password: 'a' }, '{ username: "a", password: "a" }', []],
  ])('%s', (_what, type, value, literal, mistakes) => {
    expect(inValue(value, typeOf(type))).toEqual(mistakes)
    expect(inLiteral(literal, typeOf(type))).toEqual(mistakes)
  })

  test('the walk ends after a few, however many there are', () => {
    const files = Array.from({ length: 100_000 }, () => 5)
    expect(inValue({ agentId: 'a', query: 'q', files }, typeOf('ChatInput'))).toHaveLength(MISTAKES_MAX)
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
    for (const value of VALUES) {
      let isRefused = false
      validateInputValue(value, type, () => {
        isRefused = true
      })
      expect([value, inValue(value, type).length > 0]).toEqual([value, isRefused])
      if (value === undefined) continue
      const text = JSON.stringify(value).replace(/"(\w+)":/g, '$1:')
      let isLiteralRefused = false
      validateInputLiteral(parseValue(text), type, () => {
        isLiteralRefused = true
      })
      expect([text, inLiteral(text, type).length > 0]).toEqual([text, isLiteralRefused])
    }
  })
})
