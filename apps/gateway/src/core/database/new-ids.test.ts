import { randomBytes } from 'node:crypto'
import { validate, version } from 'uuid'
import { expect, test } from 'vitest'
import { createIdMaker } from './database-clock.ts'

const AT_MS = Date.parse('2026-11-23T12:00:00.123Z')

test('ids are UUIDs of version 7, begin with their time, and differ in everything else', () => {
  const newId = createIdMaker({ randomBytes })
  const ids = Array.from({ length: 1_000 }, () => newId(AT_MS + 0.9))
  for (const id of ids) {
    expect([validate(id), version(id)]).toEqual([true, 7])
    expect(Number.parseInt(id.slice(0, 13).replace('-', ''), 16)).toBe(AT_MS)
  }
  expect(new Set(ids).size).toBe(ids.length)
  expect(newId(AT_MS + 1) > newId(AT_MS)).toBe(true)
  expect(newId(5)).toMatch(/^00000000-0005-7/)
})

test('no random byte is used for two ids, and each is used', () => {
  let next = 0
  const counted = (size: number) => Buffer.from(Array.from({ length: size }, () => next++ & 0xff))
  const newId = createIdMaker({ randomBytes: counted })
  const tails = Array.from({ length: 300 }, () => newId(AT_MS).slice(14))
  const expected = tails.map((_, index) => {
    const bytes = Buffer.from(Array.from({ length: 10 }, (_each, at) => (10 * index + at) & 0xff))
    bytes[0] = 0x70 | ((bytes[0] ?? 0) & 0x0f)
    bytes[2] = 0x80 | ((bytes[2] ?? 0) & 0x3f)
    const digits = bytes.toString('hex')
    return `${digits.slice(0, 4)}-${digits.slice(4, 8)}-${digits.slice(8)}`
  })
  expect(tails).toEqual(expected)
})
