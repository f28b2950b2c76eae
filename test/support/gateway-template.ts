import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseConfig } from '@trunkline/gateway/src/config/load.ts'
import { openDatabase } from '@trunkline/gateway/src/core/database/open.ts'
import { keptInCache } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
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
  const prepared = await keptInCache('prepared', async (path) => {
    // A gateway's start makes its data directory, but only the database is opened here.
    await mkdir(path, { recursive: true })
    await prepare({ kind: 'embedded', dataDir: path })
  })
  await mkdir(dataDir, { recursive: true })
  // `cpSync` needs five times as long for the thousand files of PGlite.
  await promisify(execFile)('cp', ['-R', join(prepared, 'db'), dataDir])
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

// The set-up of a test run, which cannot load WebAssembly itself, runs this in a process of its own.
const [, , url] = process.argv
if (import.meta.main && url !== undefined) await prepare({ kind: 'server', url })
