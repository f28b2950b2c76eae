import Type from 'typebox'
import { expect, test } from 'vitest'
import { expectation } from './expectation.ts'

test.each([
  [Type.String({ minLength: 1, maxLength: 9 }), 'a string of 1 to 9 characters'],
  [Type.String({ format: 'uuid' }), 'a string (uuid)'],
  [Type.Integer({ minimum: 1, maximum: 100 }), 'an integer of 1 to 100'],
  [Type.Boolean(), 'true or false'],
  [Type.Enum(['a', 'b']), 'one of a, b'],
  [Type.Union([Type.String(), Type.Null()]), 'a string or null'],
  [
    Type.Array(Type.Enum(['a']), { minItems: 1, uniqueItems: true }),
    'an array of at least 1 item, each one of a, no item twice',
  ],
  [Type.Object({}), 'an object'],
  [undefined, 'a valid value'],
])('a schema is described by its keywords (case %#)', (schema, expected) => {
  expect(expectation(schema)).toBe(expected)
})

test('the keyword expected replaces the generated text', () => {
  expect(expectation(Type.String({ pattern: '\\S', expected: 'a string that is not blank' }))).toBe(
    'a string that is not blank',
  )
})
