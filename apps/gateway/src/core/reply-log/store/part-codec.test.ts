import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { SecretKeys } from '#core/accounts/auth/stored-secrets.ts'
import { createPartCodec } from './part-codec.ts'

const codecOf = (keys: SecretKeys) => createPartCodec(keys, { randomBytes })
const KEYS = { secretKey: 'k'.repeat(32) }

/** Around the bounds of what is compressed, of a block, and of what is compressed in another thread. */
const TEXTS = ['', 'é', 'x'.repeat(16), 'data: 😀\n\n'.repeat(40), 'event: delta\n'.repeat(10_000)]
const RANDOM = randomBytes(60_000).toString('base64')

const openAll = (codec: ReturnType<typeof codecOf>, rows: readonly Buffer[]) =>
  Promise.all(rows.map((row) => codec.open(row)))

test.each([
  ['plain', {}],
  ['encrypted', KEYS],
])('%s texts of one flush are read back, each by itself', async (_kind, keys) => {
  const texts = [...TEXTS, RANDOM, ...TEXTS]
  const rows = await codecOf(keys).seal(texts)
  expect(await openAll(codecOf(keys), rows)).toEqual(texts)
})

test('texts are compressed, but for short ones', async () => {
  const rows = await codecOf({}).seal(TEXTS)
  expect(rows.map(({ length }, index) => length < (TEXTS[index] ?? '').length)).toEqual([
    false,
    false,
    false,
    true,
    true,
  ])
})

test('encrypted rows contain nothing of their texts, and equal texts differ', async () => {
  const codec = codecOf(KEYS)
  const [short, again, long] = await codec.seal(['a secret', 'a secret', RANDOM])
  const [later] = await codec.seal(['a secret'])
  for (const row of [short, again, later]) expect(row?.toString('latin1')).not.toContain('secret')
  const [plain] = await codecOf({}).seal([RANDOM])
  expect(long?.includes(plain?.subarray(100, 120) ?? '')).toBe(false)
  const bodies = [short, again, later].map((row) => row?.subarray(21).toString('hex'))
  expect(new Set(bodies).size).toBe(3)
})

test('no block of the keystream is used twice in a flush', async () => {
  const zeros = '\0'.repeat(40)
  const rows = await codecOf(KEYS).seal([zeros, zeros, zeros])
  const blocks = rows.flatMap((row) => [row.subarray(21, 37), row.subarray(37, 53)].map(String))
  expect(new Set(blocks).size).toBe(6)
})

test('the previous key reads, plain rows are always read, and a row of any other key is gone', async () => {
  const old = await codecOf(KEYS).seal(TEXTS)
  const plain = await codecOf({}).seal(TEXTS)
  const rotated = codecOf({ secretKey: 'n'.repeat(32), secretKeyPrevious: KEYS.secretKey })
  expect(await openAll(rotated, old)).toEqual(TEXTS)
  expect(await openAll(rotated, plain)).toEqual(TEXTS)
  const gone = TEXTS.map(() => undefined)
  for (const keys of [{}, { secretKey: 'n'.repeat(32) }])
    expect(await openAll(codecOf(keys), old)).toEqual(gone)
  expect(await openAll(codecOf(KEYS), await rotated.seal(TEXTS))).toEqual(gone)
})

test('damaged rows and those of later versions are gone', async () => {
  const [row = Buffer.alloc(0)] = await codecOf(KEYS).seal(['x'.repeat(1_000)])
  const [plain = Buffer.alloc(0)] = await codecOf({}).seal(['x'.repeat(1_000)])
  const damaged = [
    Buffer.alloc(0),
    Buffer.from([4, 1]),
    row.subarray(0, 20),
    row.subarray(0, -3),
    plain.subarray(0, 5),
  ]
  expect(await openAll(codecOf(KEYS), damaged)).toEqual(damaged.map(() => undefined))
})
