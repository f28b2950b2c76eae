import { getIntrospectionQuery, parse } from 'graphql'
import { expect, test } from 'vitest'
import { DOCUMENT_BOUNDS } from '#core/limits/document-bounds.ts'
import { excessOf, measureDocument } from './document-size.ts'

const measure = (text: string, fields = 1_000_000) => measureDocument(parse(text), { fields })
const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ')

const FRAGMENT = 'fragment F on User { a: id name }'
const CIRCLE = 'fragment A on Query { me { id } ...B } fragment B on Query { me { id } ...A }'

test.each<[what: string, text: string, size: object]>([
  ['tokens without comments', '# a\n{ user(id: "a { text }") { id } } # b', { tokens: 11 }],
  [
    'every operation',
    'query A { me { id } } query B { me { a: id b: id } }',
    { fields: 5, aliases: 2, equalNames: 1 },
  ],
  [
    'fragments as often as they are used',
    `{ x: me { ...F } y: me { ...F } } ${FRAGMENT}`,
    { fields: 6, aliases: 4 },
  ],
  ['fragments that nothing uses once', `{ me { id } } ${FRAGMENT}`, { fields: 4, aliases: 1 }],
  ['equal names of one selection', '{ me { id } me { id } a: me { id } a: you { id } }', { equalNames: 2 }],
  [
    'equal names in its fragments',
    '{ me { id ... { id ...F } } } fragment F on User { id id }',
    { equalNames: 4 },
  ],
  ['a fragment that contains itself once', `{ ...A } ${CIRCLE}`, { fields: 4, aliases: 0, equalNames: 2 }],
  ['such a fragment that nothing uses', `{ me { id } } ${CIRCLE}`, { fields: 6 }],
  ['an unknown fragment as nothing', '{ ...Nowhere }', { fields: 0 }],
])('the size of a document has %s', (_what, text, size) => {
  expect(measure(text)).toMatchObject(size)
})

test.each([
  ['with fields', 'me { a: id }'],
  ['without', '...Nowhere'],
])('fragments that multiply each other, %s, are beyond the bound of fields at once', (_what, innermost) => {
  const doubling = times(60, (index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`)
  const { fields } = measure(`{ ...F0 } ${doubling} fragment F60 on Query { ${innermost} }`, 1_000)
  expect(fields).toBe(1_001)
})

test('the standard introspection query is within what strangers may send', () => {
  for (const options of [
    {},
    { inputValueDeprecation: true, specifiedByUrl: true, directiveIsRepeatable: true },
  ]) {
    const size = measure(getIntrospectionQuery(options))
    expect(excessOf(size, DOCUMENT_BOUNDS.withoutCredential, {})).toBeUndefined()
  }
})
