import type { Config } from '#config/load.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { openStorage } from '#core/uploads/storage/open-storage.ts'
import { type FileStorage, StorageError } from '#core/uploads/storage/storage.ts'
import { bounded, type Finding, findingsOf } from './finding.ts'

const DAY_SECONDS = 86_400
/** Several requests, each of which may be repeated. */
const WITHIN_MS = 20_000

/**
 * Checks with real requests that files can be stored in S3 and read through their URLs. For a local folder, `checkDataDir`
 * says whether it can be written.
 */
export async function checkStorage(config: Config): Promise<readonly Finding[]> {
  const { s3 } = config
  if (s3 === undefined) return []
  const { ok, error } = findingsOf('storage')
  const server = s3.endpoint === undefined ? 'AWS' : new URL(s3.endpoint).host

  async function check(bucket: string): Promise<readonly Finding[]> {
    const storage = await openStorage(config, { runtime: systemRuntime, publicUrl: () => config.publicUrl })
    try {
      return [
        ...(await warningsOf(config, storage)),
        ok(`S3_BUCKET: a file can be written to ${bucket} at ${server}, read by its URL and removed.`),
      ]
    } finally {
      storage.close()
    }
  }
  return bounded(WITHIN_MS, check(s3.bucket), (reason, cause) =>
    // The messages of the storage name the setting or the server themselves.
    error(cause instanceof StorageError ? reason : `S3 at ${server}: ${reason}.`),
  )
}

/** What works but restricts uploads. */
async function warningsOf({ uploads }: Config, storage: FileStorage): Promise<readonly Finding[]> {
  const { warning } = findingsOf('storage')
  const advice = (await storage.check()).map(warning)
  const { retentionDays } = uploads
  if (retentionDays * DAY_SECONDS <= storage.urlLifeSecondsMax) return advice
  const days = storage.urlLifeSecondsMax / DAY_SECONDS
  return [
    warning(
      `uploads.retentionDays: files are kept for ${retentionDays} days, but a pre-signed URL ends after ${days}; set S3_PUBLIC_URL for longer lives.`,
    ),
    ...advice,
  ]
}
