import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createScratchBucket,
  type ScratchBucket,
  s3TestServer,
} from '@trunkline/gateway/src/core/uploads/storage/scratch-bucket.test-support.ts'
import { inBucket } from './uploads.ts'

/** Where a test gateway keeps uploads: a bucket of its own where the tests use servers, and otherwise its data directory. */
export interface GatewayStorage {
  readonly env: Readonly<Record<string, string>>
  /** Undefined on local disk. */
  readonly bucket: ScratchBucket | undefined
  /**
   * Everything in the storage: the keys of objects and of multipart uploads that are not complete, or the paths of files. It
   * is sorted, and the tokens come last, so that it can be compared with an empty list.
   */
  contents(): Promise<string[]>
  drop(): Promise<void>
}

export async function createGatewayStorage(dataDir: string, isOnDisk: boolean): Promise<GatewayStorage> {
  const server = isOnDisk ? undefined : s3TestServer()
  if (server === undefined) {
    const folder = join(dataDir, 'files')
    return { env: {}, bucket: undefined, contents: () => filesIn(folder), drop: () => Promise.resolve() }
  }
  const bucket = await createScratchBucket(server)
  return {
    env: inBucket(bucket),
    bucket,
    contents: async () => (await bucket.leftovers()).sort(),
    drop: () => bucket.drop(),
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort()
}
