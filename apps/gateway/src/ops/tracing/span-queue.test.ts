import { ROOT_CONTEXT, TraceFlags } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { type ReadableSpan, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import { SpanQueue } from './span-queue.ts'

type Done = (result: ExportResult) => void

/** A queue for ten spans, whose batches of five the test answers. */
function start() {
  const sent: { readonly spans: readonly ReadableSpan[]; readonly done: Done }[] = []
  const exporter: SpanExporter = {
    export: (spans, done) => void sent.push({ spans, done }),
    shutdown: async () => undefined,
  }
  let dropped = 0
  const answers: boolean[] = []
  const bounds = { queueMax: 10, batchMax: 5, scheduleDelayMs: 60_000, exportTimeoutMs: 60_000 }
  const queue = new SpanQueue(exporter, bounds, {
    dropped(spans) {
      dropped += spans
    },
    collectorAnswers: (is) => void answers.push(is),
  })
  const tracer = new TracerProvider({ spanProcessors: [queue] }).getTracer('test')
  return {
    queue,
    sent,
    answers,
    record(spans: number) {
      for (let span = 0; span < spans; span += 1) tracer.startSpan('span', {}, ROOT_CONTEXT).end()
    },
    get dropped() {
      return dropped
    },
  }
}

const SUCCESS: ExportResult = { code: ExportResultCode.SUCCESS }
const FAILURE: ExportResult = { code: ExportResultCode.FAILED, error: new Error('refused') }

test('the queue holds as many spans as it may beside the batch that is being sent, and counts the others', () => {
  const traced = start()
  traced.record(100)
  expect(traced.sent).toHaveLength(1)
  expect(traced.sent[0]?.spans.every((span) => span.spanContext().traceFlags === TraceFlags.SAMPLED)).toBe(
    true,
  )
  expect(traced.dropped).toBe(100 - 5 - 10)
})

test('the queue counts the spans that the collector does not take, and tells once that it does not answer, and once that it does', async () => {
  const traced = start()
  traced.record(10)
  traced.sent[0]?.done(FAILURE)
  await expect.poll(() => traced.sent.length).toBe(2)
  traced.sent[1]?.done(FAILURE)
  expect([traced.dropped, traced.answers]).toEqual([10, [false]])
  await new Promise(setImmediate)
  traced.record(5)
  traced.sent[2]?.done(SUCCESS)
  expect([traced.dropped, traced.answers]).toEqual([10, [false, true]])
})

test('at its end the queue sends the spans that wait, and waits for the batch that is being sent', async () => {
  const traced = start()
  traced.record(8)
  let isClosed = false
  const closing = traced.queue.close(60_000).then(() => {
    isClosed = true
  })
  await expect.poll(() => traced.sent.length).toBe(2)
  traced.sent[1]?.done(SUCCESS)
  await new Promise(setImmediate)
  expect(isClosed).toBe(false)
  traced.sent[0]?.done(SUCCESS)
  await closing
  expect(traced.dropped).toBe(0)
  traced.record(1)
  expect(traced.dropped).toBe(1)
})

test('the end of the queue does not wait for a collector that does not answer, and counts the spans that are lost', async () => {
  const traced = start()
  traced.record(8)
  await traced.queue.close(1)
  expect(traced.dropped).toBe(8)
})
