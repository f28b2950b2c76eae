import type { Config } from '#config/load.ts'
import { systemRuntime } from '#core/runtime.ts'
import { openStorage } from '#core/uploads/storage/open-storage.ts'

const DAY_SECONDS = 86_400

/**
 * Checks with real requests that files can be stored in S3 and read through their URLs. A local folder is not checked,
 * because that would create it.
 *
 * @returns advice about settings that work but restrict uploads
 * @throws StorageError naming what does not work
 */
export async function checkStorage(config: Config): Promise<readonly string[]> {
  if (config.s3 === undefined) return []
  const storage = await openStorage(config, { runtime: systemRuntime, publicUrl: () => config.publicUrl })
  try {
    const advice = await storage.check()
    const { retentionDays } = config.uploads
    if (retentionDays * DAY_SECONDS <= storage.urlLifeSecondsMax) return advice
    const days = storage.urlLifeSecondsMax / DAY_SECONDS
    return [
      `uploads.retentionDays: files are kept for ${retentionDays} days, but a pre-signed URL ends after ${days}; set S3_PUBLIC_URL for longer lives.`,
      ...advice,
    ]
  } finally {
    storage.close()
  }
}
