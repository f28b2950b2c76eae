import { describe, expect, test } from 'vitest'
import type { KeyWatch } from '#core/accounts/keys/key-watch.ts'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { StreamLimit } from './places.ts'
import { type PlaceBounds, Places } from './places.ts'
import { StopRequests } from './platform-stops.ts'
import type { EndedEarly, RunningCall } from './running-call.ts'

const KEY = { keyId: 'key-1', ownerId: 'ada', address: '192.0.2.1' }

/** Places, and the keys that are watched for their calls. */
function open({ streamsPerKey, inFlightMax = 20 }: Partial<PlaceBounds & StreamLimit> = {}) {
  const watched = new Set<(reason: ErrorReason) => void>()
  const keyWatch: KeyWatch = {
    watch(_key, onRefused) {
      watched.add(onRefused)
      return () => void watched.delete(onRefused)
    },
  }
  const stops = new StopRequests()
  const places = new Places({
    keyWatch,
    stops,
    bounds: { inFlightMax },
    limits: { streamsPerKey },
  })
  return { places, watched, stops }
}

class GivenCall implements RunningCall {
  readonly ends: [EndedEarly, ErrorReason | undefined][] = []

  end(outcome: EndedEarly, reason?: ErrorReason): void {
    this.ends.push([outcome, reason])
  }
}

const refusal = (reason: string) => expect.objectContaining({ reason, retryAfterSeconds: 1 })

test('what a place holds is free again when it is left, once', () => {
  const { places, watched } = open({ inFlightMax: 1, streamsPerKey: 1 })
  const place = places.enter(true)
  const other = places.enter(true)
  place.takeFor({ keyId: 'key of ada', ownerId: 'ada' })
  expect(() => other.takeFor({ keyId: 'key of ada', ownerId: 'bob' })).toThrow(refusal('rate_limited'))
  other.leave()
  expect(() => places.enter(false)).toThrow(refusal('unavailable'))
  place.begin(new GivenCall(), KEY)
  expect([places.running, watched.size]).toEqual([1, 1])
  place.leave()
  place.leave()
  expect([places.running, watched.size]).toEqual([0, 0])

  const next = places.enter(true)
  next.takeFor({ keyId: 'key of bob', ownerId: 'bob' })
  expect(() => places.enter(false)).toThrow(refusal('unavailable'))
})

test('an owner may have all places but the last tenth, and one that was refused holds none', () => {
  const { places } = open()
  for (let calls = 0; calls < 18; calls += 1)
    places.enter(false).takeFor({ keyId: 'key of ada', ownerId: 'ada' })
  const refused = places.enter(false)
  expect(() => refused.takeFor({ keyId: 'key of ada', ownerId: 'ada' })).toThrow(refusal('rate_limited'))
  refused.leave()
  places.enter(false).takeFor({ keyId: 'key of bob', ownerId: 'bob' })
})

test('a call whose key is refused ends with the reason', () => {
  const { places, watched } = open()
  const call = new GivenCall()
  places.enter(false).begin(call, KEY)
  for (const onRefused of watched) onRefused('key_revoked')
  expect(call.ends).toEqual([['rejected', 'key_revoked']])
})

describe('a process that drains', () => {
  test('refuses new calls, and is done when the last call has left its place', async () => {
    const { places } = open()
    const admitting = places.enter(false)
    const running = places.enter(false)
    const call = new GivenCall()
    running.begin(call, KEY)
    let isDone = false
    const draining = places.drain(60_000).then(() => {
      isDone = true
    })
    expect(() => places.enter(false)).toThrow(expect.objectContaining({ reason: 'draining' }))
    running.leave()
    await new Promise(setImmediate)
    expect(isDone).toBe(false)
    admitting.leave()
    await draining
    expect(call.ends).toEqual([])
  })

  test('ends the calls that are left at the timeout, and waits for their stop requests', async () => {
    const { places, stops } = open()
    const stopped = Promise.withResolvers<void>()
    const place = places.enter(false)
    const ended = Promise.withResolvers<EndedEarly>()
    const end = (outcome: EndedEarly) => {
      ended.resolve(outcome)
      stops.add(stopped.promise)
      place.leave()
    }
    place.begin({ end }, KEY)
    let isDone = false
    const draining = places.drain(0).then(() => {
      isDone = true
    })
    expect([await ended.promise, isDone]).toEqual(['drained', false])
    stopped.resolve()
    await draining
  })
})
