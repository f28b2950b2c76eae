import { getIntrospectionQuery, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { countTokens, measureSelections } from './document-size.ts'

const measure = (text: string, fieldsMax = 1_000_000) => measureSelections(parse(text), fieldsMax)
const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ')

describe('tokens', () => {
  test.each([
    ['{ me { id } }', 6],
    ['', 0],
    ['# a comment\n{ me { id } } # and another', 6],
    ['{ user(id: "a long { text } of (one) token") { id } }', 11],
    ['{ a(b: """a\nblock""") }', 8],
  ])('%s has %d', (text, tokens) => {
    expect(countTokens(text, 1_000)).toBe(tokens)
  })

  test('are counted up to one beyond the bound', () => {
    expect(countTokens(`{ ${'id '.repeat(100_000)} }`, 250)).toBe(251)
  })

  test('of what does not parse are counted up to its mistake', () => {
    expect(countTokens('{ me { id ~ name name name', 1_000)).toBe(4)
  })
})

describe('fields, aliases and names', () => {
  test('count with every operation of the document', () => {
    expect(measure('query A { me { id } } query B { me { a: id b: id } }')).toEqual({
      fields: 5,
      aliases: 2,
      equalNames: 1,
    })
  })

  test('count in fragments as often as these are used, and once where nothing uses them', () => {
    const fragment = 'fragment F on User { a: id name }'
    expect(measure(`{ x: me { ...F } y: me { ...F } } ${fragment}`)).toEqual({
      fields: 6,
      aliases: 4,
      equalNames: 1,
    })
    expect(measure(`{ me { id } } ${fragment}`)).toMatchObject({ fields: 4, aliases: 1 })
  })

  test('equal names are those of one selection, its fragments included', () => {
    expect(measure('{ me { id } me { id } }').equalNames).toBe(2)
    expect(measure('{ a: me { id } b: me { id } }').equalNames).toBe(1)
    expect(measure('{ a: me { id } a: you { id } }').equalNames).toBe(2)
    expect(measure('{ me { id ... { id ...F } } } fragment F on User { id id }').equalNames).toBe(4)
    expect(
      measure('{ me { id } ...F } fragment F on Query { me { id } ...G } fragment G on Query { me { id } }')
        .equalNames,
    ).toBe(3)
  })

  test('fragments that contain themselves or do not exist end the count, not the process', () => {
    const circle = 'fragment A on Query { me { id } ...B } fragment B on Query { me { id } ...A }'
    expect(measure(`{ ...A } ${circle}`)).toEqual({ fields: 4, aliases: 0, equalNames: 2 })
    expect(measure(`{ me { id } } ${circle}`).fields).toBeGreaterThan(2)
    expect(measure('{ ...Nowhere }').fields).toBe(0)
  })

  test('fragments that multiply each other are beyond every bound at once', () => {
    const doubling = times(
      60,
      (index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} ...F${index + 1} }`,
    )
    const text = `{ ...F0 } ${doubling} fragment F60 on Query { me { a: id } }`
    const { fields, aliases } = measure(text, 1_000)
    expect(fields).toBeGreaterThan(1_000)
    expect(fields).toBeLessThan(10_000)
    expect(aliases).toBeGreaterThan(0)
  })

  test('the standard introspection query is within what strangers may send', () => {
    for (const options of [
      {},
      { inputValueDeprecation: true, specifiedByUrl: true, directiveIsRepeatable: true },
    ]) {
      const text = getIntrospectionQuery(options)
      expect(countTokens(text, 2_000)).toBeLessThanOrEqual(250)
      expect(measure(text).fields).toBeLessThanOrEqual(250)
      expect(measure(text)).toMatchObject({ aliases: 0, equalNames: 1 })
    }
  })
})
