import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseConfig } from '@trunkline/gateway/src/config/load.ts'
import { openDatabase } from '@trunkline/gateway/src/core/database/open.ts'
import {
  createScratchDatabase,
  keptInCache,
} from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { systemRuntime } from '@trunkline/gateway/src/core/runtime.ts'
import { createGateway } from '@trunkline/gateway/src/gateway.ts'
import { createLogger } from '@trunkline/gateway/src/ops/logger.ts'

/** The administrator of every gateway whose first start is not under test. */
export const ADMINISTRATOR = { username: 'admin', password: 'correct horse battery' }

/**
 * Fills a new data directory with a migrated database that has the administrator, which spares a gateway the seconds of a
 * first start.
 */
export async function copyPreparedDataDir(dataDir: string): Promise<void> {
  const prepared = await keptInCache('prepared', (path) =>
    prepare({ kind: 'embedded', dataDir: path }).then(() => undefined),
  )
  await mkdir(dataDir, { recursive: true })
  // `cpSync` needs five times as long for the thousand files of PGlite.
  await promisify(execFile)('cp', ['-R', join(prepared, 'db'), dataDir])
}

/**
 * Global set-up of the projects that run against PostgreSQL: makes the database that `createScratchDatabase` copies, and
 * drops it after the run.
 */
export default async function makeTemplateDatabase(): Promise<() => Promise<void>> {
  const serverUrl = process.env.TEST_DATABASE_URL
  if (serverUrl === undefined || process.env.TEST_TEMPLATE_DATABASE !== undefined)
    return async () => undefined
  const { url, drop } = await createScratchDatabase(serverUrl)
  await prepare({ kind: 'server', url })
  process.env.TEST_TEMPLATE_DATABASE = new URL(url).pathname.slice(1)
  return drop
}

async function prepare(options: Parameters<typeof openDatabase>[0]): Promise<void> {
  const database = await openDatabase(options)
  await database.migrate()
  const config = parseConfig({ agents: { openai: { baseUrl: 'http://127.0.0.1:9', model: 'none' } } }, {})
  const log = createLogger('silent')
  const gateway = createGateway({ config, database, runtime: systemRuntime, log })
  await gateway.services.users.firstAdmin(ADMINISTRATOR)
  await gateway.close(0)
  await database.close()
}
