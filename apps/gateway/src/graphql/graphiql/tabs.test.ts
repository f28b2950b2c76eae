import { parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import { schema } from '../schema.ts'
import { credentialIn, credentialsOf, rootFieldsOf } from './credentials.ts'
import { tabsAt } from './tabs.ts'

test.each(tabsAt(new Date(0)))('the document of tab %# is valid', ({ query }) => {
  expect(validate(schema, parse(query))).toEqual([])
})

test('the description of every operation says which credential it takes', () => {
  const silent = rootFieldsOf(schema).filter(
    ({ description }) => credentialIn(description ?? '') === undefined,
  )
  expect(silent.map(({ name }) => name)).toEqual([])
})

test('operations are grouped by the credential that they take', () => {
  const credentials = credentialsOf(schema)
  expect(credentials).toContainEqual({ words: 'Needs no credential.', fields: ['login'], isKey: false })
  expect(new Set(credentials.flatMap(({ fields }) => fields))).toEqual(
    new Set(rootFieldsOf(schema).map(({ name }) => name)),
  )
})
