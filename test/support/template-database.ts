import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'

/**
 * Set-up of a run against PostgreSQL, called by vitest: makes the migrated database that {@link createScratchDatabase}
 * copies, and returns what drops it after the run.
 */
export default async function makeTemplateDatabase(): Promise<() => Promise<void>> {
  const serverUrl = process.env.TEST_DATABASE_URL
  // Every project of the run calls this.
  if (serverUrl === undefined || process.env.TEST_TEMPLATE_DATABASE !== undefined)
    return async () => undefined
  const { url, drop } = await createScratchDatabase(serverUrl)
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'gateway-template.ts'), url])
  process.env.TEST_TEMPLATE_DATABASE = new URL(url).pathname.slice(1)
  return drop
}
