import { expect, test } from 'vitest'
import { defineResource } from './define-resource.ts'
import {
  agent,
  derivedFrom,
  flag,
  integer,
  json,
  key,
  nullable,
  objects,
  text,
  time,
  words,
} from './fields.ts'
import type { View } from './resource.ts'
import { closed, open } from './vocabulary.ts'

const STATE = closed('State', ['on', 'off'], 'Whether it is on.', { on: 'It is.', off: 'It is not.' })
const FACE = open('Face', ['openai'], 'Where it is.', { openai: "OpenAI's." })

interface Lamp {
  readonly keyId: string | null
  readonly agent: string
  readonly litAt: Date
  readonly state: 'on' | 'off'
  readonly face: string
  readonly before: string | null
  readonly bulbs: readonly { readonly wattMax: number; readonly maker: string | null }[]
  readonly cursor: string
}

const BULB = defineResource<Lamp['bulbs'][number]>()('Bulb', 'A bulb.', {
  wattMax: integer('The most watts.', 0),
  maker: nullable(text('Its maker; null if unknown.')),
})
const LAMP = defineResource<Lamp>()('Lamp', 'A lamp.', {
  keyId: nullable(key('The id of the key.', 'The key.')),
  agent: agent('The id of the agent.', 'The agent.'),
  litAt: time('When it was lit.'),
  state: words(STATE, 'Whether it is on.'),
  face: words(FACE, 'Where it is.'),
  before: nullable(json('The state before.')),
  bulbs: objects(BULB, 'Its bulbs.'),
})
const lamp: Lamp = {
  keyId: null,
  agent: 'dify',
  litAt: new Date('2026-11-20T08:30:00Z'),
  state: 'on',
  face: 'openai',
  before: '{"role": "user"}',
  bulbs: [{ wattMax: 60, maker: null }],
  cursor: 'c',
}

test('a record has the fields of the definition in snake case and in their order, and nothing else of the row', () => {
  const record = LAMP.record(lamp)
  expect(record).toEqual({
    key_id: null,
    agent: 'dify',
    lit_at: '2026-11-20T08:30:00.000Z',
    state: 'on',
    face: 'openai',
    before: { role: 'user' },
    bulbs: [{ watt_max: 60, maker: null }],
  })
  expect(Object.keys(record)).toEqual(LAMP.columns)
})

test('a state that is no JSON object is shown as the text that it is', () => {
  for (const before of ['[1]', 'not JSON']) {
    expect(LAMP.record({ ...lamp, before })).toMatchObject({ before: { text: before } })
  }
})

test('the schema describes what a record has, with the meaning of each word, and enums only for words that no newer version can add to', () => {
  const { state, face, key_id, bulbs } = LAMP.schema.properties
  expect(state).toMatchObject({
    enum: ['on', 'off'],
    description: 'Whether it is on. `on`: it is. `off`: it is not.',
  })
  expect(face).toMatchObject({
    'x-extensible-enum': ['openai'],
    description: "Where it is. `openai`: OpenAI's.",
  })
  expect(face).not.toHaveProperty('enum')
  expect(key_id).toMatchObject({ anyOf: [{ format: 'uuid' }, { type: 'null' }] })
  expect(bulbs).toMatchObject({ items: { properties: { watt_max: { type: 'integer', minimum: 0 } } } })
  expect(LAMP.schema.required).toEqual(LAMP.columns)
})

test('a value may be computed of columns of the row, and an object be a part of it', () => {
  const { computed, part } = derivedFrom<Lamp, Pick<View, 'now'>>()
  const light = computed(flag('Whether it shines.'), ['litAt', 'state'], ({ litAt, state }, { now }) => {
    return state === 'on' && litAt <= now
  })
  const LIGHT = defineResource<Lamp, Pick<View, 'now'>>()('Light', 'Its light.', {
    isBright: light,
    litAt: time('When.'),
  })
  const SHINING = defineResource<Lamp, Pick<View, 'now'>>()('Shining', 'What shines.', {
    light: part(LIGHT, 'Its light.'),
  })
  expect(SHINING.fields.light.columns).toEqual(['litAt', 'state', 'litAt'])
  const at = (time: string) => SHINING.record(lamp, { now: new Date(time) })
  expect(at('2026-11-20T08:31:00Z')).toEqual({
    light: { is_bright: true, lit_at: '2026-11-20T08:30:00.000Z' },
  })
  expect(at('2026-11-20T08:29:00Z')).toMatchObject({ light: { is_bright: false } })
})

test('a field that the row does not have, or has with another type, is an error of the compiler at its line', () => {
  const { computed } = derivedFrom<Lamp>()
  // @ts-expect-error - the row has no such column
  computed(flag('Whether it is lit.'), ['lit'], () => true)
  // @ts-expect-error - only the columns that are named are read
  computed(text('Its state.'), ['litAt'], ({ state }) => state)
  defineResource<Lamp>()('Lamp', 'A lamp.', {
    // @ts-expect-error - the row may have null
    keyId: key('The id of the key.', 'The key.'),
    // @ts-expect-error - the row has no such field
    colour: text('Its colour.'),
  })
})
