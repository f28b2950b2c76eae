import { expect, test } from 'vitest'
import { OpenStreams } from './places.ts'

const refusal = expect.objectContaining({ reason: 'rate_limited', retryAfterSeconds: 1 })

test('a key at its limit may open another stream when one of them has ended', () => {
  const streams = new OpenStreams({ streamsPerKey: 2 })
  streams.open('a')
  streams.open('a')
  expect(() => streams.open('a')).toThrow(refusal)
  expect(() => streams.open('b')).not.toThrow()
  streams.close('a')
  expect(() => streams.open('a')).not.toThrow()
  expect(() => streams.open('a')).toThrow(refusal)
})

test('streams that were opened before there was a limit count towards it', () => {
  const limit: { streamsPerKey?: number } = {}
  const streams = new OpenStreams(limit)
  for (const _stream of [1, 2, 3]) streams.open('a')
  limit.streamsPerKey = 2
  expect(() => streams.open('a')).toThrow(refusal)
  for (const _stream of [1, 2]) streams.close('a')
  expect(() => streams.open('a')).not.toThrow()
  expect(() => streams.open('a')).toThrow(refusal)
})

test('without a limit a key may hold any number of streams', () => {
  const streams = new OpenStreams({})
  for (let stream = 0; stream < 1_000; stream += 1) streams.open('a')
})
