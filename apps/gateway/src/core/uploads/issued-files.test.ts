import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { createIssuedFiles, problemOfRead } from './issued-files.ts'

const UNUSED = {} as never

/** Reads a file of five bytes, by its record, of which the storage has these chunks. */
async function read(...chunks: readonly string[]): Promise<string> {
  const stored = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
  const storage = { read: async () => stored } as never
  const files = createIssuedFiles({ prisma: UNUSED, sql: UNUSED, storage, runtime: systemRuntime })
  const content = await files.read({ token: 'token', urlName: 'a.txt', size: 5n } as Upload)
  try {
    return Buffer.concat(await content.toArray()).toString()
  } catch (error) {
    throw problemOfRead(error)
  } finally {
    expect([content.destroyed, stored.destroyed]).toEqual([true, true])
  }
}

test('a file is read as it is recorded', async () => {
  expect(await read('ab', 'cde')).toBe('abcde')
})

test.each([
  ['shorter', ['ab', 'cd']],
  ['empty', []],
  ['longer', ['abc', 'def']],
])('a file that is %s than its record is a fault of the storage', async (_how, chunks) => {
  await expect(read(...chunks)).rejects.toMatchObject({
    reason: 'unavailable',
    limit: 'storage',
    cause: { message: 'The storage has a file with another length than the 5 bytes of its record.' },
  })
})
