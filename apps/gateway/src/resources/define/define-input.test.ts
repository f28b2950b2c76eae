import { expect, test } from 'vitest'
import { byDefault, defineInput, form, required, within } from './define-input.ts'
import { integer, nullable, text, time, words } from './fields.ts'
import { closed } from './vocabulary.ts'

const STATE = closed('State', ['on', 'off'], 'Whether it is on.', { on: 'It is.', off: 'It is not.' })
const BULB = defineInput('Bulb', 'A bulb.', { wattMax: nullable(integer('The most watts.')) })
const CREATE_LAMP = defineInput(
  'CreateLamp',
  'A new lamp.',
  {
    roomName: required(within(text('Where it is.'), { minLength: 1, maxLength: 9 })),
    state: byDefault(words(STATE, 'Whether it is on.'), 'off'),
    litAt: time('When it was lit.'),
    bulb: nullable(form(BULB, 'Its bulb.')),
  },
  { example: { room_name: 'hall' }, otherFields: { id: 'cannot be set.' } },
)

test('a body has the rules of its fields, and what is wrong with others that a caller may expect', () => {
  expect(CREATE_LAMP.schema).toMatchObject({
    $id: 'CreateLamp',
    required: ['room_name'],
    additionalProperties: false,
    otherFields: { id: 'cannot be set.' },
    properties: {
      room_name: { type: 'string', minLength: 1, maxLength: 9, description: 'Where it is.' },
      state: { enum: ['on', 'off'], default: 'off' },
      lit_at: { type: 'string', maxLength: 64 },
      bulb: { anyOf: [{ properties: { watt_max: {} }, additionalProperties: false }, { type: 'null' }] },
    },
  })
})

test("what was sent is read by core's names, also within an object, and no more than was sent", () => {
  expect(CREATE_LAMP.read({ room_name: 'hall', bulb: { watt_max: null }, id: 1 })).toEqual({
    roomName: 'hall',
    bulb: { wattMax: null },
  })
  expect(CREATE_LAMP.read({ bulb: null })).toEqual({ bulb: null })
  for (const body of [undefined, null, 'text', []]) expect(CREATE_LAMP.read(body)).toEqual({})
})
