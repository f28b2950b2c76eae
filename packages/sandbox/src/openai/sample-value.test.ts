import { expect, test } from 'vitest'
import { sampleValue } from './sample-value.ts'

const TEXT = '沙箱 sandbox'
const text = { type: 'string' }

test.each<[string, object, unknown]>([
  ['a text', text, TEXT],
  ['a short text', { type: 'string', maxLength: 2 }, '沙箱'],
  ['a long text', { type: 'string', minLength: 12 }, `${TEXT}..`],
  ['a date', { type: 'string', format: 'date' }, '2026-01-02'],
  ['an integer', { type: 'integer' }, 1],
  ['an integer above a bound', { type: 'integer', exclusiveMinimum: 10 }, 11],
  ['a number below a bound', { type: 'number', exclusiveMaximum: 0 }, -0.5],
  ['a multiple', { type: 'integer', multipleOf: 5, minimum: 12 }, 15],
  ['one of some values', { type: 'string', enum: ['red', 'blue'] }, 'red'],
  ['a constant', { const: 'circle' }, 'circle'],
  ['a value that may be null', { type: ['string', 'null'] }, TEXT],
  ['a list', { type: 'array', items: text }, [TEXT]],
  ['a list of three', { type: 'array', items: { type: 'boolean' }, minItems: 3 }, [true, true, true]],
  [
    'an object of objects',
    { type: 'object', properties: { a: { type: 'object', properties: { b: text } } } },
    { a: { b: TEXT } },
  ],
  ['the first choice', { anyOf: [{ type: 'integer' }, text] }, 1],
  [
    'a definition',
    { $ref: '#/$defs/step', $defs: { step: { type: 'object', properties: { n: { type: 'number' } } } } },
    { n: 1 },
  ],
  ['all of several', { allOf: [{ type: 'object' }, { properties: { n: { type: 'number' } } }] }, { n: 1 }],
])('%s has a value that matches', (_, schema, value) => {
  expect(sampleValue({ ...schema })).toEqual(value)
})

test('a schema that refers to itself ends where it may', () => {
  const tree = {
    type: 'object',
    properties: {
      children: { type: 'array', items: { $ref: '#' } },
      parent: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
    },
    required: ['children', 'parent'],
  }
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? 1 + Math.max(0, ...Object.values(value).map((each) => depthOf(each)))
      : 0
  expect(depthOf(sampleValue(tree))).toBeLessThan(12)
  const endless = { type: 'object', properties: { self: { $ref: '#' } }, required: ['self'] }
  expect(() => JSON.stringify(sampleValue(endless))).not.toThrow()
})
