import { parse } from 'graphql'
import { expect, test, vi } from 'vitest'
import { withGraphQL } from '../graphql.ts'
import { Trunkline } from '../index.ts'

test('a DocumentNode is refused, by the compiler and at run time, with what to pass instead', async () => {
  const fetch = vi.fn(async () => new Response('{}'))
  const gql = withGraphQL(new Trunkline({ baseURL: 'http://gateway.test', fetch }))
  const sentence =
    "Pass the text of the document instead of a DocumentNode: `print(document)`, or one that codegen made with `documentMode: 'string'`."
  // @ts-expect-error a DocumentNode is no text
  await expect(gql.query(parse('{ agents { id } }'))).rejects.toThrow(sentence)
  // @ts-expect-error a DocumentNode is no text
  const items = gql.subscribe(parse('subscription { usageUpdated { day } }'))
  await expect(items.next()).rejects.toThrow(sentence)
  expect(fetch).not.toHaveBeenCalled()
})
