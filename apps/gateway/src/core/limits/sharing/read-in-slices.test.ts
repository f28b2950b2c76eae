import { expect, test } from 'vitest'
import { inRanges, inSlices } from './read-in-slices.ts'
import type { Slices } from './reads.ts'

const ROWS = [1, 2, 3, 5, 8, 13, 21]
const slicesOf = (rowsMax: number): Slices => ({ run: (statement) => statement(rowsMax) })

/** The sums of the ranges of keys in which the rows are read. */
async function sums(slices: Slices | undefined, start?: number): Promise<number[]> {
  const next = async (from = 0, rowsMax: number) => ROWS.filter((row) => row >= from)[rowsMax]
  const found: number[] = []
  const ranges = inRanges(slices, { start, next }, async (from = 0, to = Infinity) =>
    ROWS.filter((row) => row >= from && row < to).reduce((sum, row) => sum + row, 0),
  )
  for await (const sum of ranges) found.push(sum)
  return found
}

test('ranges of keys have as many rows as a slice may read, and all rows together', async () => {
  expect(await sums(slicesOf(3))).toEqual([6, 26, 21])
  expect(await sums(slicesOf(3), 5)).toEqual([26, 21])
  expect(await sums(slicesOf(7))).toEqual([53])
  expect(await sums(slicesOf(3), 100)).toEqual([0])
})

test('without slices one range has all rows, and no key is looked for', async () => {
  expect(await sums(undefined)).toEqual([53])
  expect(await sums(undefined, 5)).toEqual([47])
})

test('a reader that has enough reads no further slice', async () => {
  const read: number[] = []
  for await (const place of inSlices(slicesOf(1), 0, async (place) => {
    read.push(place)
    return { result: place, next: place + 1 }
  })) {
    if (place === 2) break
  }
  expect(read).toEqual([0, 1, 2])
})
