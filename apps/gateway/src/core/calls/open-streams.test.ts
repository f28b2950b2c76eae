import { expect, test } from 'vitest'
import { OpenStreams } from './open-streams.ts'

const refusal = expect.objectContaining({ reason: 'rate_limited', retryAfterSeconds: 1 })

test('a key at its limit may open another stream when one of them has ended', () => {
  const streams = new OpenStreams(2)
  streams.open('a')
  streams.open('a')
  expect(() => streams.open('a')).toThrow(refusal)
  expect(() => streams.open('b')).not.toThrow()
  streams.close('a')
  expect(() => streams.open('a')).not.toThrow()
  expect(() => streams.open('a')).toThrow(refusal)
})

test('without a limit a key may hold any number of streams', () => {
  const streams = new OpenStreams(undefined)
  for (let stream = 0; stream < 1_000; stream += 1) streams.open('a')
})
