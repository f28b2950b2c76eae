import { expect, test } from 'vitest'
import { CredentialRests } from './credential-rests.ts'

function isResting(rests: CredentialRests, deployment: string, key: string, nowMs: number): boolean {
  return rests.restUntil(deployment, key, 'ada', nowMs) !== undefined
}

test('a credential rests for 60 s, or as long as the platform asks, but not longer than 60 s', () => {
  const rests = new CredentialRests()
  rests.rest('eu', 'one', 'ada', 500, undefined)
  rests.rest('eu', 'two', 'ada', 500, 3)
  rests.rest('eu', 'three', 'ada', 500, 3_600)
  expect(['one', 'two', 'three', 'four'].map((key) => rests.restUntil('eu', key, 'ada', 600))).toEqual([
    60_500,
    3_500,
    60_500,
    undefined,
  ])
  expect(isResting(rests, 'eu', 'two', 3_499)).toBe(true)
  expect(isResting(rests, 'eu', 'two', 3_500)).toBe(false)
})

test('other keys of the deployment and the same key of another one go on', () => {
  const rests = new CredentialRests()
  rests.rest('eu', 'one', 'ada', 0, undefined)
  expect(isResting(rests, 'eu', 'two', 1)).toBe(false)
  expect(isResting(rests, 'us', 'one', 1)).toBe(false)
})

test('the latest word of the platform counts', () => {
  const rests = new CredentialRests()
  rests.rest('eu', 'one', 'ada', 0, undefined)
  rests.rest('eu', 'one', 'ada', 1_000, 2)
  expect(rests.restUntil('eu', 'one', 'ada', 1_000)).toBe(3_000)
})

test('a success ends the rest, except that of an attempt from before it', () => {
  const rests = new CredentialRests()
  rests.rest('eu', 'one', 'ada', 1_000, undefined)
  rests.end('eu', 'one', 999)
  expect(isResting(rests, 'eu', 'one', 1_001)).toBe(true)
  rests.end('us', 'one', 2_000)
  expect(isResting(rests, 'eu', 'one', 2_001)).toBe(true)
  rests.end('eu', 'one', 2_000)
  expect(isResting(rests, 'eu', 'one', 2_001)).toBe(false)
})

test('as many rests as allowed are kept: the oldest is dropped', () => {
  const rests = new CredentialRests(2)
  rests.rest('eu', 'one', 'ada', 0, undefined)
  rests.rest('eu', 'two', 'ada', 1, undefined)
  rests.rest('eu', 'one', 'ada', 2, undefined)
  rests.rest('eu', 'three', 'ada', 3, undefined)
  expect(['one', 'two', 'three'].map((key) => isResting(rests, 'eu', key, 4))).toEqual([true, false, true])
})

test('it rests for the owner whose call was refused, and for all once it was refused to another one too', () => {
  const rests = new CredentialRests()
  const restsFor = (nowMs: number) =>
    ['ada', 'bob', 'eve'].filter((owner) => rests.restUntil('eu', 'one', owner, nowMs) !== undefined)
  for (let refusal = 0; refusal < 5; refusal += 1) rests.rest('eu', 'one', 'eve', refusal, undefined)
  expect(restsFor(1_000)).toEqual(['eve'])
  rests.rest('eu', 'one', 'bob', 1_000, undefined)
  expect(restsFor(2_000)).toEqual(['ada', 'bob', 'eve'])
  rests.rest('eu', 'one', 'eve', 61_000, undefined)
  expect(restsFor(62_000)).toEqual(['eve'])
})
