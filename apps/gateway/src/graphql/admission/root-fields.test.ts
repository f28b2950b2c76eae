import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { rootFieldsOf } from './root-fields.ts'

const DOCUMENT = parse(`
  query First { x: me { id } ...Lists ... on Query { agents { id } } }
  query Second { calls { totalCount } }
  fragment Lists on Query { users { totalCount } ...More }
  fragment More on Query { apiKeys { totalCount } ...Lists ...Unknown }
`)
const namesOf = (operationName: string | null) =>
  rootFieldsOf({ document: DOCUMENT, operationName }).map(({ name }) => name.value)

test('the root fields are those of the operation that runs, also in fragments, by their own names', () => {
  expect(namesOf('First')).toEqual(['me', 'users', 'agents', 'apiKeys'])
  expect(namesOf('Second')).toEqual(['calls'])
  expect(namesOf(null)).toEqual([])
})
