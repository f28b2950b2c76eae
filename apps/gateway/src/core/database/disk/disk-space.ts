import { statfs } from 'node:fs/promises'
import { PeriodicRead } from '#core/base/async/periodic-read.ts'
import type { Runtime } from '#core/base/runtime.ts'

/**
 * Whether there is room for writes. PostgreSQL ends when it cannot write its log, so an embedded gateway stops admitting and
 * changing anything before the disk is full. What is left then is for calls in flight, whose ends are still written.
 */
export interface DiskSpace {
  readonly isLow: boolean
  /** As of the last reading; undefined before the first one and where nothing is read. */
  readonly freeBytes: number | undefined
}

/** Where the database is on a server, it has a disk of its own. */
export const AMPLE_SPACE: DiskSpace = { isLow: false, freeBytes: undefined }

/** The `unavailable` of what is refused while {@link DiskSpace.isLow}. */
export const DISK_FULL = {
  detail: 'The gateway has too little disk space to change anything.',
  limit: 'disk_full',
  retryAfterSeconds: 5,
} as const

export interface WatchedDiskSpace extends DiskSpace {
  /** Reads once, and then every second. */
  start(): Promise<void>
  stop(): void
}

export interface DiskSpaceOptions {
  readonly dataDir: string
  /** 0 switches the watch off. */
  readonly freeBytesMin: number
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  readonly observer: DiskSpaceObserver
  /** Returns the bytes that this process may still write. */
  readonly readFreeBytes?: (dataDir: string) => Promise<number>
}

export interface DiskSpaceObserver {
  /** Called when too little space is left, and when there is enough again. */
  low(isLow: boolean, freeBytes: number): void
  /** Called when the space cannot be read, and when it can be read again. */
  readable(isReadable: boolean, error?: unknown): void
}

const READ_EVERY_MS = 1_000

export function watchDiskSpace({
  dataDir,
  freeBytesMin,
  runtime,
  observer,
  readFreeBytes = freeBytesOf,
}: DiskSpaceOptions): WatchedDiskSpace {
  const space = { isLow: false, freeBytes: undefined as number | undefined, start, stop }
  let isRunning = false

  async function read(): Promise<void> {
    space.freeBytes = await readFreeBytes(dataDir)
    if (space.isLow === space.freeBytes < freeBytesMin) return
    space.isLow = !space.isLow
    observer.low(space.isLow, space.freeBytes)
  }

  // A file system that hangs leaves the state as it was last seen, and is not asked again meanwhile.
  const reads = new PeriodicRead({
    everyMs: READ_EVERY_MS,
    runtime,
    isNeeded: () => isRunning,
    read,
    onAnswer: observer.readable,
  })

  async function start(): Promise<void> {
    if (freeBytesMin === 0) return
    await read().catch((error: unknown) => observer.readable(false, error))
    isRunning = true
    reads.start()
  }

  function stop(): void {
    isRunning = false
    reads.stop()
  }

  return space
}

async function freeBytesOf(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}
