import fc from 'fast-check'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { MetricsWithDeadWorkers } from './metrics-with-dead-workers.ts'

/** The metrics of one worker. */
function startWorker() {
  const registry = new Registry()
  const registers = [registry]
  const calls = new Counter({ name: 'calls_total', help: 'Calls.', labelNames: ['agent'], registers })
  const seconds = new Histogram({ name: 'seconds', help: 'Times.', buckets: [0.1, 1], registers })
  const open = new Gauge({ name: 'open', help: 'Open calls.', registers })
  return { calls, seconds, open, report: () => registry.getMetricsAsJSON() }
}

/** The values of a text by their series. */
function valuesIn(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}

test('counters and histograms of a worker that ended are kept, and its gauges are not', async () => {
  const metrics = new MetricsWithDeadWorkers()
  for (const calls of [2, 3]) {
    const worker = startWorker()
    worker.calls.inc({ agent: 'a' }, calls)
    worker.seconds.observe(0.5)
    worker.open.set(7)
    metrics.receive(0, await worker.report())
    metrics.end(0)
  }
  const living = startWorker()
  living.calls.inc({ agent: 'a' }, 10)
  living.open.set(1)
  metrics.receive(1, await living.report())

  const values = valuesIn(await metrics.text([]))
  expect(Object.fromEntries(values)).toEqual({
    'calls_total{agent="a"}': 15,
    'seconds_bucket{le="0.1"}': 0,
    'seconds_bucket{le="1"}': 2,
    'seconds_bucket{le="+Inf"}': 2,
    seconds_sum: 1,
    seconds_count: 2,
    open: 1,
  })
})

test('the metrics of the primary itself are shown with those of the workers', async () => {
  const primary = new Registry()
  new Counter({ name: 'deaths_total', help: 'Deaths.', registers: [primary] }).inc(3)
  const worker = startWorker()
  worker.calls.inc({ agent: 'a' })
  const metrics = new MetricsWithDeadWorkers()
  metrics.receive(0, await worker.report())
  const values = valuesIn(await metrics.text(await primary.getMetricsAsJSON()))
  expect([values.get('deaths_total'), values.get('calls_total{agent="a"}')]).toEqual([3, 1])
})

test('of gauges with labels each series is combined by itself: of breakers the worst is shown, calls are added up', async () => {
  const metrics = new MetricsWithDeadWorkers()
  const breakers = [
    { eu: 2, us: 0 },
    { eu: 0, us: 1 },
  ]
  for (const [place, states] of breakers.entries()) {
    const registry = new Registry()
    const shared = { help: 'Help.', labelNames: ['deployment'], registers: [registry] }
    const breaker = new Gauge({ ...shared, name: 'breaker', aggregator: 'max' })
    const calls = new Gauge({ ...shared, name: 'calls' })
    for (const [deployment, state] of Object.entries(states)) breaker.set({ deployment }, state)
    calls.set({ deployment: 'eu' }, 3)
    metrics.receive(place, await registry.getMetricsAsJSON())
  }
  expect(Object.fromEntries(valuesIn(await metrics.text([])))).toEqual({
    'breaker{deployment="eu"}': 2,
    'breaker{deployment="us"}': 1,
    'calls{deployment="eu"}': 6,
  })
})

test('the death of a worker does not change the order in which numbers are added up, which may round to less', async () => {
  const metrics = new MetricsWithDeadWorkers()
  const receive = async (place: number, calls: number) => {
    const worker = startWorker()
    worker.calls.inc({ agent: 'a' }, calls)
    metrics.receive(place, await worker.report())
  }
  const shown = async () => valuesIn(await metrics.text([])).get('calls_total{agent="a"}')
  // 0.1 + (0.2 + 0.3) is less than (0.1 + 0.2) + 0.3.
  await receive(0, 0.1)
  await receive(1, 0.2)
  metrics.end(1)
  await receive(1, 0.3)
  const before = await shown()
  metrics.end(1)
  expect(await shown()).toBe(before)
})

test('whoever dies and whenever: no counter is ever shown smaller than before', async () => {
  const step = fc.record({
    place: fc.integer({ min: 0, max: 3 }),
    amount: fc.integer({ min: 1, max: 99 }).map((tenths) => tenths / 10),
    does: fc.constantFrom('count', 'report', 'report', 'die'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 80 }), async (steps) => {
      const metrics = new MetricsWithDeadWorkers()
      const workers = Array.from({ length: 4 }, startWorker)
      let seen = new Map<string, number>()
      for (const { place, amount, does } of steps) {
        const worker = workers[place] ?? startWorker()
        if (does === 'count') {
          worker.calls.inc({ agent: String(place % 2) }, amount)
          worker.seconds.observe(amount / 500)
        } else if (does === 'report') {
          metrics.receive(place, await worker.report())
        } else {
          metrics.end(place)
          workers[place] = startWorker()
        }
        const shown = valuesIn(await metrics.text([]))
        for (const [series, value] of seen)
          if (series !== 'open') expect(shown.get(series), series).toBeGreaterThanOrEqual(value)
        seen = shown
      }
    }),
    { numRuns: process.env.SOAK ? 5_000 : 50 },
  )
})
