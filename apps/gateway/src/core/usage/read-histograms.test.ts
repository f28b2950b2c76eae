import { array, assert, dictionary, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { merge, readHistograms } from './histogram.ts'

const histogram = dictionary(integer({ min: 0, max: 230 }).map(String), integer({ min: 1, max: 1_000_000 }))

test('histograms after each other read as their sum, spaced as PostgreSQL or JavaScript do it', () => {
  assert(
    property(array(histogram), (histograms) => {
      const expected = merge(histograms.map((one) => ({ ...one })))
      const json = histograms.map((one) => JSON.stringify(one)).join('')
      expect(readHistograms(json)).toEqual(expected)
      expect(readHistograms(json.replaceAll(/[:,]/g, '$& '))).toEqual(expected)
    }),
  )
})

test('nothing reads as an empty histogram', () => {
  expect(['', '{}', '{}{}'].map((json) => readHistograms(json))).toEqual([{}, {}, {}])
})
