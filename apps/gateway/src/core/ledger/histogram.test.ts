import { type Arbitrary, array, assert, dictionary, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { GROWTH, Histogram } from './histogram.ts'

const durations: Arbitrary<number[]> = array(integer({ min: 1, max: 0x7fffffff }), { minLength: 1 })

test('a quantile is within 5 % of the true one, whatever the values', () => {
  assert(
    property(durations, (values) => {
      const quantiles = histogramOf(values).quantiles()
      for (const [share, value] of [
        [0.5, quantiles?.p50],
        [0.95, quantiles?.p95],
        [0.99, quantiles?.p99],
      ] as const) {
        const truth = rankOf(values, share)
        expect(Math.abs((value ?? Number.NaN) - truth) / truth).toBeLessThan(0.05)
      }
    }),
  )
})

test('every whole number of milliseconds below ten seconds is at most 4.9 % off', () => {
  for (let value = 1; value < 10_000; value += 1) {
    const p50 = histogramOf([value]).quantiles()?.p50 ?? Number.NaN
    expect(Math.abs(p50 - value) / value, `${value} ms`).toBeLessThan(0.049)
  }
})

test('merged histograms equal the histogram of all values', () => {
  assert(
    property(array(durations, { minLength: 1, maxLength: 5 }), (parts) => {
      const merged = new Histogram()
      for (const part of parts) merged.add(histogramOf(part))
      expect(merged.quantiles()).toEqual(histogramOf(parts.flat()).quantiles())
    }),
  )
})

test('subtracting restores the previous state', () => {
  assert(
    property(durations, durations, (values, others) => {
      const histogram = histogramOf(values)
      histogram.addJson(jsonOf(others))
      histogram.addJson(jsonOf(others), -1)
      expect(histogram.quantiles()).toEqual(histogramOf(values).quantiles())
      histogram.clear()
      expect(histogram.quantiles()).toBeNull()
    }),
  )
})

test('concatenated JSON is read as the sum, with the spacing of PostgreSQL or JavaScript', () => {
  const sparse = dictionary(integer({ min: 0, max: 226 }).map(String), integer({ min: 1, max: 1_000_000 }))
  assert(
    property(array(sparse), (parts) => {
      const expected = new Histogram()
      for (const part of parts) expected.addJson(JSON.stringify(part))
      const json = parts.map((part) => JSON.stringify(part)).join('')
      for (const text of [json, json.replaceAll(/[:,]/g, '$& ')]) {
        const read = new Histogram()
        read.addJson(text)
        expect(read.quantiles()).toEqual(expected.quantiles())
      }
    }),
  )
})

test.each(['', '{}', '{}{}'])('%j is read as a histogram without values', (json) => {
  const histogram = new Histogram()
  histogram.addJson(json)
  expect(histogram.quantiles()).toBeNull()
})

function histogramOf(values: readonly number[]): Histogram {
  const histogram = new Histogram()
  histogram.addJson(jsonOf(values))
  return histogram
}

/** Counts the values as the SQL of the settlement does. */
function jsonOf(values: readonly number[]): string {
  const cells = Map.groupBy(values, (value) => Math.ceil(Math.log(value) / Math.log(GROWTH)))
  return JSON.stringify(Object.fromEntries([...cells].map(([index, { length }]) => [index, length])))
}

function rankOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.ceil(values.length * share) - 1] ?? Number.NaN
}
