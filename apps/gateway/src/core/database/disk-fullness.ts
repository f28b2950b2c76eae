import type { Runtime } from '#core/base/runtime.ts'
import { isDiskFull } from '#core/errors/connection-error.ts'

const REMEMBERED_MS = 10_000

/**
 * Remembers that the database's disk is full, since the reads by which readiness is checked still succeed. It is forgotten when a
 * write succeeds, and after some seconds, so that a process without any writes tries again.
 */
export function createDiskFullness(
  runtime: Pick<Runtime, 'elapsedMs'>,
  onChange: (isFull: boolean, error?: unknown) => void,
) {
  let seenMs: number | undefined
  return {
    get isFull(): boolean {
      return seenMs !== undefined && runtime.elapsedMs() - seenMs < REMEMBERED_MS
    },
    failed(error: unknown): void {
      if (!isDiskFull(error)) return
      if (seenMs === undefined) onChange(true, error)
      seenMs = runtime.elapsedMs()
    },
    written(): void {
      if (seenMs === undefined) return
      seenMs = undefined
      onChange(false)
    },
  }
}
