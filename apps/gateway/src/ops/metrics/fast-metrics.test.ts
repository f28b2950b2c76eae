import fc from 'fast-check'
import { Counter, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { FastCounter, FastHistogram } from './fast-metrics.ts'

const LABELS = fc.constantFrom('a', 'b', 'with "quotes"', 'two words')

test('a fast counter prints the same text as a counter of prom-client', async () => {
  const ofLabels = fc.tuple(LABELS, LABELS)
  await fc.assert(
    fc.asyncProperty(fc.array(ofLabels), async (counted) => {
      const [ours, theirs] = [new Registry(), new Registry()]
      const config = { name: 'things_total', help: 'Things.', labelNames: ['kind', 'colour'] }
      const fastCounter = new FastCounter({ ...config, registers: [ours] })
      const counter = new Counter({ ...config, registers: [theirs] })
      for (const [kind, colour] of counted) {
        fastCounter.add(1, kind, colour)
        counter.inc({ kind, colour })
      }
      expect(await ours.metrics()).toBe(await theirs.metrics())
      // A second scrape must not count anything twice.
      expect(await ours.getMetricsAsJSON()).toEqual(await theirs.getMetricsAsJSON())
    }),
  )
})

test.each([
  ['one label', ['kind']],
  ['four labels', ['kind', 'colour', 'size', 'taste']],
  ['no label', []],
])('a fast histogram of %s prints the same text as a histogram of prom-client', async (_, labelNames) => {
  const seen = fc.tuple(LABELS, LABELS, LABELS, LABELS, fc.constantFrom(0, 0.5, 1, 1.5, 2, 1000))
  await fc.assert(
    fc.asyncProperty(fc.array(seen), async (observed) => {
      const [ours, theirs] = [new Registry(), new Registry()]
      const config = { name: 'seconds', help: 'Seconds.', buckets: [0.5, 1, 2], labelNames }
      const distribution = new FastHistogram({ ...config, registers: [ours] })
      const histogram = new Histogram({ ...config, registers: [theirs] })
      for (const [kind, colour, size, taste, value] of observed) {
        const labels = [kind, colour, size, taste].slice(0, labelNames.length)
        distribution.add(value, ...labels)
        histogram.observe(
          Object.fromEntries(labelNames.map((name, index) => [name, labels[index] ?? ''])),
          value,
        )
      }
      expect(await ours.metrics()).toBe(await theirs.metrics())
      expect(valuesOf(await ours.getMetricsAsJSON())).toEqual(valuesOf(await theirs.getMetricsAsJSON()))
    }),
  )
})

/** Workers report these to their primary, which adds them by name and labels. */
function valuesOf(metrics: readonly object[]): unknown {
  return metrics.map((metric) => {
    const { values } = metric as { values: { metricName?: string; labels: object; value: number }[] }
    return values.map(({ metricName, labels, value }) => ({ metricName, labels, value }))
  })
}
