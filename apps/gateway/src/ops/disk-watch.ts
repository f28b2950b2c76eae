import type { Logger } from 'pino'
import { OBSTACLES } from '#core/base/errors/connection-error.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { AMPLE_SPACE, watchDiskSpace } from '#core/database/disk/disk-space.ts'
import { createWritability } from '#core/database/writability.ts'
import type { DependencyState } from './health.ts'
import { logChanges } from './log-changes.ts'
import type { Metrics } from './metrics/metrics.ts'

/** Watches whether the database can write, and says in the log, the metrics and `/readyz` when it cannot or its disk is full. */
export type DiskWatch = ReturnType<typeof createDiskWatch>

export interface DiskWatchDeps {
  readonly config: { readonly dataDir: string; readonly storage: { readonly freeBytesMin: number } }
  readonly database: Pick<Database, 'kind'>
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  readonly metrics: Pick<Metrics, 'watchDisk'>
  readonly log: Logger
}

export function createDiskWatch({ config, database, runtime, metrics, log }: DiskWatchDeps) {
  const { freeBytesMin } = config.storage
  const writability = createWritability(runtime, (obstacle, error) => {
    if (obstacle !== undefined) log.error({ err: error }, `the database cannot write: ${OBSTACLES[obstacle]}`)
    else log.info('the database can write again')
  })
  const isReportedFull = () => writability.obstacle === 'disk_full'
  if (database.kind === 'server') {
    metrics.watchDisk({ isFull: isReportedFull })
    return {
      space: AMPLE_SPACE,
      writability,
      isFull: isReportedFull,
      states: () => ({}),
      start: async () => undefined,
      stop: () => undefined,
    }
  }
  const space = watchDiskSpace({
    dataDir: config.dataDir,
    freeBytesMin,
    runtime,
    observer: {
      low(isLow, freeBytes) {
        if (isLow) log.error({ freeBytes, freeBytesMin }, `${LOW}: nothing is admitted or changed`)
        else log.info({ freeBytes, freeBytesMin }, 'DATA_DIR has enough free space again')
      },
      readable: logChanges(
        log,
        'the free space of DATA_DIR can be read again',
        'the free space of DATA_DIR cannot be read',
      ),
    },
  })
  const isFull = () => space.isLow || isReportedFull()
  metrics.watchDisk({
    isFull,
    freeBytes: () => space.freeBytes,
    freeBytesMin,
  })
  return {
    space,
    /** What the statements that write have met. */
    writability,
    /** Whether the disk of the database is full, or almost full. */
    isFull,
    /** The state of `DATA_DIR` where the database is embedded. */
    states: (): { readonly disk?: DependencyState } => ({
      disk: space.isLow ? { ok: false, detail: `${LOW}; nothing is admitted or changed` } : { ok: true },
    }),
    start: space.start,
    stop: space.stop,
  }
}

const LOW = 'DATA_DIR has too little free space'
