import { type Arbitrary, array, assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { GROWTH, type Histogram, merge, quantiles } from './histogram.ts'

const durations: Arbitrary<number[]> = array(integer({ min: 1, max: 0x7fffffff }), { minLength: 1 })

test('a quantile is within 5 % of the true one, whatever the values', () => {
  assert(
    property(durations, (values) => {
      const told = quantiles(histogramOf(values))
      for (const [share, value] of [
        [0.5, told?.p50],
        [0.95, told?.p95],
        [0.99, told?.p99],
      ] as const) {
        const truth = rankOf(values, share)
        expect(Math.abs((value ?? Number.NaN) - truth) / truth).toBeLessThan(0.05)
      }
    }),
  )
})

test('every whole number of milliseconds below ten seconds is told within 4.9 %', () => {
  for (let value = 1; value < 10_000; value += 1) {
    const p50 = quantiles(histogramOf([value]))?.p50 ?? Number.NaN
    expect(Math.abs(p50 - value) / value, `${value} ms`).toBeLessThan(0.049)
  }
})

test('parts merge to what the whole would have given', () => {
  assert(
    property(array(durations, { minLength: 1, maxLength: 5 }), (parts) => {
      expect(quantiles(merge(parts.map(histogramOf)))).toEqual(quantiles(histogramOf(parts.flat())))
    }),
  )
})

test('without values there is no quantile', () => {
  expect(quantiles(merge([]))).toBeNull()
  expect(quantiles(merge([{}, {}]))).toBeNull()
})

/** As the settlement's SQL counts. */
function histogramOf(values: readonly number[]): Histogram {
  const cells = Map.groupBy(values, (value) => Math.ceil(Math.log(value) / Math.log(GROWTH)))
  return Object.fromEntries([...cells].map(([index, { length }]) => [index, length]))
}

function rankOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.ceil(values.length * share) - 1] ?? Number.NaN
}
