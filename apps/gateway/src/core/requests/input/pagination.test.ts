import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { type Keyset, type ListQuery, readList, readPage } from './pagination.ts'

/** Ids of the rows in a table that `read` simulates. */
const ids = Array.from({ length: 5 }, () => v7()).sort()
const [first, second, third, fourth, last] = ids as [string, string, string, string, string]

async function read({ where: { id }, orderBy, take }: Keyset): Promise<{ id: string }[]> {
  const passes = (row: string) => id === undefined || ('lt' in id ? row < id.lt : row > id.gt)
  const rows = ids.filter(passes)
  return (orderBy.id === 'desc' ? rows.reverse() : rows).slice(0, take).map((row) => ({ id: row }))
}

const list = async (query: ListQuery) => (await readList(query, read)).map(({ id }) => id)

test.each<[string, ListQuery, string[]]>([
  ['the newest', { take: 2 }, [last, fourth]],
  ['those after a row, in the order of the list', { take: 2, cursor: { id: fourth } }, [third, second]],
  ['those before a row', { take: -2, cursor: { id: second } }, [fourth, third]],
  ['the last ones', { take: -2 }, [second, first]],
  ['none', { take: 0 }, []],
])('a list gives %s, always newest first', async (_name, query, expected) => {
  expect(await list(query)).toEqual(expected)
})

test('a cursor stays valid after its row was deleted', async () => {
  const gone = `${third.slice(0, -1)}${third.endsWith('0') ? '1' : '0'}`
  const position = await list({ take: 5, cursor: { id: gone } })
  expect([
    [third, second, first],
    [second, first],
  ]).toContainEqual(position)
})

test.each<[string, ListQuery]>([
  ['cursor', { take: 1, cursor: { id: 'not an id' } }],
  ['cursor', { take: 1, cursor: { id: '\0' } }],
  ['limit', { take: 102 }],
  ['limit', { take: -102 }],
  ['limit', { take: 1.5 }],
  ['limit', { take: Number.NaN }],
])('an invalid %s is rejected before anything is read (case %#)', async (field, query) => {
  const reads = readList(query, () => {
    throw new Error('was read')
  })
  await expect(reads).rejects.toMatchObject({
    reason: 'invalid_request',
    detail: expect.stringContaining(`${field}: `),
  })
})

test.each([0, 101, -1, 2.5])('a page size of %d is rejected', async (limit) => {
  await expect(readPage({ limit }, (query) => readList(query, read))).rejects.toMatchObject({
    detail: expect.stringContaining('limit: '),
  })
})
