import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'
import { sleep } from '#core/base/async/sleep.ts'
import type { TracingObserver, TracingSettings } from './tracing.ts'

type QueueBounds = Pick<TracingSettings, 'queueMax' | 'batchMax' | 'scheduleDelayMs' | 'exportTimeoutMs'>

/**
 * The spans that wait for the collector: a bounded number. Those that find no room, and those that the collector did not take,
 * are dropped and counted, whereas the processor of the SDK only writes them to its own log.
 */
export class SpanQueue implements SpanProcessor {
  readonly #queueMax: number
  readonly #observer: TracingObserver
  readonly #processor: BatchSpanProcessor
  #waiting = 0
  #sending = 0
  #whenSent: (() => void) | undefined
  #answers = true
  #isClosed = false

  constructor(
    exporter: SpanExporter,
    { queueMax, batchMax, scheduleDelayMs, exportTimeoutMs }: QueueBounds,
    observer: TracingObserver,
  ) {
    this.#queueMax = queueMax
    this.#observer = observer
    this.#processor = new BatchSpanProcessor({
      exporter: {
        export: (spans, done) => this.#send(exporter, spans, done),
        shutdown: () => exporter.shutdown(),
      },
      maxQueueSize: queueMax,
      maxExportBatchSize: batchMax,
      scheduledDelayMillis: scheduleDelayMs,
      exportTimeoutMillis: exportTimeoutMs,
    })
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#isClosed || this.#waiting >= this.#queueMax) {
      this.#observer.dropped(1)
      return
    }
    this.#waiting += 1
    this.#processor.onEnd(span)
  }

  forceFlush(): Promise<void> {
    return this.#processor.forceFlush()
  }

  async shutdown(): Promise<void> {
    await this.close(Number.POSITIVE_INFINITY)
  }

  /** Sends what waits, for at most so long. Never rejects. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true
    // The processor does not wait for the batch that was being sent before.
    const flushed = this.#processor.shutdown().then(
      () => this.#sent(),
      () => this.#sent(),
    )
    await Promise.race([flushed, sleep(timeoutMs)])
    const lost = this.#waiting + this.#sending
    if (lost > 0) this.#observer.dropped(lost)
  }

  #send(exporter: SpanExporter, spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    const { length } = spans
    this.#waiting -= length
    this.#sending += length
    exporter.export(spans, (result) => {
      this.#sending -= length
      const answers = result.code === ExportResultCode.SUCCESS
      if (!answers) this.#observer.dropped(length)
      if (answers !== this.#answers) {
        this.#answers = answers
        this.#observer.collectorAnswers(answers, result.error)
      }
      if (this.#sending === 0) this.#whenSent?.()
      done(result)
    })
  }

  #sent(): Promise<void> {
    return this.#sending === 0 ? Promise.resolve() : new Promise((resolve) => (this.#whenSent = resolve))
  }
}
