import { BUILD } from '#ops/build-info.ts'
import { EventLoopWatch } from './event-loop-watch.ts'
import type { Instruments } from './instruments.ts'

const LATE_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Shows what the process is and how it does, beside what prom-client shows of every process. */
export function createProcessMetrics(instruments: Instruments) {
  const { counter, gauge, gauges, histogram, watchedCounter } = instruments
  let log: { readonly droppedLines: number } | undefined
  let differs = false
  gauges(
    'trunkline_build_info',
    'The version of the gateway and the commit that it was built from; the value is always 1.',
    Object.keys(BUILD),
    () => [[BUILD, 1]],
    'max',
  )
  const startedAt = performance.timeOrigin / 1000
  gauge(
    'trunkline_started_timestamp_seconds',
    'When the process started; of several workers the one that started last.',
    () => startedAt,
    'max',
  )
  // prom-client's gauges of the lag begin anew at each scrape, and of workers every second, so that they miss most of it.
  const late = histogram(
    'trunkline_event_loop_delay_seconds',
    'How late the event loop came to a timer that is due ten times a second. While it is late, nothing else goes on in the process.',
    [],
    LATE_SECONDS,
  )
  const eventLoop = new EventLoopWatch((ms) => late.add(ms / 1000))
  const rejections = counter(
    'trunkline_stray_rejections_total',
    'Unhandled rejections of promises; any value but 0 is a fault of the gateway.',
  )
  gauge(
    'trunkline_configuration_differs',
    'How many processes serve another configuration than was loaded last: 1 or 0 of each.',
    () => Number(differs),
  )
  watchedCounter(
    'trunkline_log_lines_dropped_total',
    'Log lines that were dropped because standard output did not accept them.',
    () => log?.droppedLines ?? 0,
  )
  return {
    /** Measures how late the event loop is, between its start and its stop. */
    eventLoop,
    /** Counts an unhandled rejection. */
    strayRejection: (): void => rejections.add(1),
    configurationDiffers(isDifferent: boolean): void {
      differs = isDifferent
    },
    /** Counts the log lines that were dropped by this output. */
    watchLog(output: { readonly droppedLines: number }): void {
      log = output
    },
  }
}
