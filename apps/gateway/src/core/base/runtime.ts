import { randomBytes, randomUUIDv7 } from 'node:crypto'

/** Clock and randomness, injected so that tests can control them. */
export interface Runtime {
  now(): Date
  /** Milliseconds on a monotonic clock, for measuring durations. */
  elapsedMs(): number
  /** A fresh UUIDv7. */
  newId(): string
  randomBytes(size: number): Buffer
}

export const systemRuntime: Runtime = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  newId: () => randomUUIDv7(),
  randomBytes,
}
