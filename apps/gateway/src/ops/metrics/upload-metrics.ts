import type { CallSteps } from '#core/calls/call-events.ts'
import { SWEPT_KINDS, type SweptKind } from '#core/uploads/upload-sweep.ts'
import type { Instruments } from './instruments.ts'

const UPLOAD_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1200]

export function createUploadMetrics({ counter, gauge, histogram }: Instruments) {
  let inFlight = 0
  const uploads = counter('trunkline_uploads_total', 'Admitted uploads by outcome and reason.', [
    'outcome',
    'reason',
  ])
  const bytes = counter(
    'trunkline_upload_bytes_total',
    'Bytes of files that were received, also of files that were refused in the end.',
  )
  const seconds = histogram(
    'trunkline_upload_duration_seconds',
    'Time from the first byte of a file to the end of its upload.',
    ['outcome'],
    UPLOAD_SECONDS,
  )
  gauge('trunkline_uploads_in_flight', 'Uploads that are being received.', () => inFlight)
  const swept = counter(
    'trunkline_uploads_swept_total',
    'Deleted by the sweep: expired uploads, files without record, records without file, unfinished writes.',
    ['kind'],
  )
  // The first increase of a series that begins with it would not be seen.
  for (const kind of SWEPT_KINDS) swept.add(0, kind)

  return {
    steps: {
      admitted() {
        inFlight += 1
      },
      settled({ settled: { outcome, failure, durationMs, bytes: received = 0 } }) {
        inFlight -= 1
        uploads.add(1, outcome, failure?.reason)
        bytes.add(received)
        seconds.add(durationMs / 1000, outcome)
      },
    } satisfies CallSteps,
    /** Counts what the sweep of uploads has deleted. */
    swept: (kind: SweptKind, count: number): void => swept.add(count, kind),
  }
}
