import { join } from 'node:path'
import type { Runtime } from '#core/base/runtime.ts'
import type { DiskSpace } from '#core/database/disk/disk-space.ts'
import { createDiskStorage } from './disk-storage.ts'
import { createS3Storage } from './s3-storage.ts'
import type { FileStorage } from './storage.ts'

export interface StorageSettings {
  readonly dataDir: string
  readonly uploads: {
    /** How long the storage may take to remove files, and to begin with the content of one. */
    readonly stalledMs: number
  }
  /** If absent, files are kept in `dataDir`. */
  readonly s3?: {
    readonly bucket: string
    readonly endpoint?: string
    readonly region?: string
    readonly publicUrl?: string
  }
}

export interface OpenStorageDeps {
  readonly runtime: Runtime
  /** What the outside calls the gateway. */
  publicUrl(): string
  /** Of `dataDir`; defaults to {@link AMPLE_SPACE}. */
  readonly space?: Pick<DiskSpace, 'isLow'>
}

/**
 * Opens the configured storage. S3 is not contacted before it is used.
 *
 * @throws StorageError if S3 has no region
 */
export async function openStorage(
  { dataDir, s3, uploads: { stalledMs } }: StorageSettings,
  deps: OpenStorageDeps,
): Promise<FileStorage> {
  if (s3 !== undefined) return createS3Storage({ ...s3, limits: { stalledMs }, runtime: deps.runtime })
  return createDiskStorage({ folder: join(dataDir, 'files'), stalledMs, ...deps })
}
