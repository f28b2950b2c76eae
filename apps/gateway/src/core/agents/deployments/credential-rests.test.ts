import { expect, test } from 'vitest'
import { CredentialRests } from './credential-rests.ts'

test('a credential rests for 60 s, or as long as the platform asks, but not longer than 60 s', () => {
  const rests = new CredentialRests()
  rests.rest('eu', 'one', 500, undefined)
  rests.rest('eu', 'two', 500, 3)
  rests.rest('eu', 'three', 500, 3_600)
  expect(['one', 'two', 'three', 'four'].map((key) => rests.restUntil('eu', key, 600))).toEqual([
    60_500,
    3_500,
    60_500,
    undefined,
  ])
  expect(rests.isResting('eu', 'two', 3_499)).toBe(true)
  expect(rests.isResting('eu', 'two', 3_500)).toBe(false)
})

test('other keys of the deployment and the same key of another one go on', () => {
  const rests = new CredentialRests()
  rests.rest('eu', 'one', 0, undefined)
  expect(rests.isResting('eu', 'two', 1)).toBe(false)
  expect(rests.isResting('us', 'one', 1)).toBe(false)
})

test('the latest word of the platform counts', () => {
  const rests = new CredentialRests()
  rests.rest('eu', 'one', 0, undefined)
  rests.rest('eu', 'one', 1_000, 2)
  expect(rests.restUntil('eu', 'one', 1_000)).toBe(3_000)
})

test('a success ends the rest, except that of an attempt from before it', () => {
  const rests = new CredentialRests()
  rests.rest('eu', 'one', 1_000, undefined)
  rests.end('eu', 'one', 999)
  expect(rests.isResting('eu', 'one', 1_001)).toBe(true)
  rests.end('us', 'one', 2_000)
  expect(rests.isResting('eu', 'one', 2_001)).toBe(true)
  rests.end('eu', 'one', 2_000)
  expect(rests.isResting('eu', 'one', 2_001)).toBe(false)
})

test('as many rests as allowed are kept: the oldest is dropped', () => {
  const rests = new CredentialRests(2)
  rests.rest('eu', 'one', 0, undefined)
  rests.rest('eu', 'two', 1, undefined)
  rests.rest('eu', 'one', 2, undefined)
  rests.rest('eu', 'three', 3, undefined)
  expect(['one', 'two', 'three'].map((key) => rests.isResting('eu', key, 4))).toEqual([true, false, true])
})
