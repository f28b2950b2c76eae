import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseConfig } from '@trunkline/gateway/src/config/load.ts'
import { openDatabase } from '@trunkline/gateway/src/core/database/open.ts'
import { CACHE, keptInCache } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { systemRuntime } from '@trunkline/gateway/src/core/runtime.ts'
import { createGateway } from '@trunkline/gateway/src/gateway.ts'
import { createLogger } from '@trunkline/gateway/src/ops/logger.ts'

/** The administrator of every gateway whose first start is not under test. */
export const ADMINISTRATOR = { username: 'admin', password: 'correct horse battery' }

/** Node keeps here what it compiled, which halves the time that a gateway needs to load its modules. */
export const COMPILE_CACHE: string = join(CACHE, 'compiled')

/**
 * Fills a new data directory with a migrated database that has the administrator, which spares a gateway the seconds of a
 * first start.
 */
export async function copyPreparedDataDir(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  // `cpSync` needs five times as long for the thousand files of PGlite.
  await promisify(execFile)('cp', ['-R', join(await preparedDataDir(), 'db'), dataDir])
}

function preparedDataDir(): Promise<string> {
  return keptInCache('prepared', async (path) => {
    // PGlite makes only the last folder of a path.
    await mkdir(path)
    await prepare({ kind: 'embedded', dataDir: path })
  })
}

async function prepare(options: Parameters<typeof openDatabase>[0]): Promise<void> {
  const database = await openDatabase(options)
  await database.migrate()
  const config = parseConfig({ agents: { openai: { baseUrl: 'http://127.0.0.1:9', model: 'none' } } }, {})
  const log = createLogger('silent')
  const gateway = createGateway({ config, database, runtime: systemRuntime, log })
  await gateway.operations.firstStart.createFirstAdmin(ADMINISTRATOR)
  await gateway.close(0)
  await database.close()
}

// The set-up of a test run, which cannot load WebAssembly itself, runs this in a process of its own.
if (import.meta.main) {
  const [, , url] = process.argv
  // Only for the compile cache.
  await import('@trunkline/gateway/src/process/start.ts')
  if (url === undefined) await preparedDataDir()
  else await prepare({ kind: 'server', url })
}
