import { expect, test } from 'vitest'
import { type ReaderBounds, ReaderPlaces } from './reader-places.ts'

const open = (bounds: Partial<ReaderBounds> = {}) =>
  new ReaderPlaces({ readersMax: 100, readersPerOwnerMax: 8, readersPerCallMax: 3, ...bounds })
const readerOf = (callId: string, ownerId = 'ada') => ({ callId, ownerId, keyId: `key of ${ownerId}` })
const refusal = (reason: string, limit: string) =>
  expect.objectContaining({ reason, limit, retryAfterSeconds: 1 })

/** Returns how many there were to take. */
function enterAll(places: ReaderPlaces, reader: ReturnType<typeof readerOf>): number {
  for (let entered = 0; ; entered += 1) {
    try {
      places.enter(reader)
    } catch {
      return entered
    }
  }
}

test('a reply has a bounded number of readers, and other replies of its owner have theirs', () => {
  const places = open()
  expect(enterAll(places, readerOf('one'))).toBe(3)
  expect(() => places.enter(readerOf('one'))).toThrow(refusal('rate_limited', 'readers_of_call'))
  places.enter(readerOf('other'))
  places.leave(readerOf('one'))
  expect(enterAll(places, readerOf('one'))).toBe(1)
})

test('an owner has a bounded number of readers, whatever replies they read, and other owners have theirs', () => {
  const places = open()
  const taken = ['one', 'two', 'three', 'four'].map((callId) => enterAll(places, readerOf(callId)))
  expect(taken).toEqual([3, 3, 2, 0])
  expect(() => places.enter(readerOf('four'))).toThrow(refusal('rate_limited', 'readers_of_owner'))
  places.enter(readerOf('five', 'bob'))
  places.leave(readerOf('one'))
  places.enter(readerOf('four'))
})

test('a reader that is refused holds no place, and the refusal names its key', () => {
  const places = open({ readersMax: 4, readersPerOwnerMax: 4 })
  for (const callId of ['one', 'two', 'three', 'four']) places.enter(readerOf(callId))
  for (let again = 0; again < 5; again += 1) {
    expect(() => places.enter(readerOf('five', 'bob'))).toThrow(refusal('unavailable', 'reply_readers'))
  }
  places.leave(readerOf('one'))
  places.enter(readerOf('five', 'bob'))
  expect(() => places.enter(readerOf('five', 'bob'))).toThrow(
    expect.objectContaining({ refused: { keyId: 'key of bob', ownerId: 'bob' } }),
  )
})
