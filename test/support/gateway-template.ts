import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createGateway } from '@trunkline/gateway/src/composition/gateway.ts'
import { parseConfig } from '@trunkline/gateway/src/config/load.ts'
import { systemRuntime } from '@trunkline/gateway/src/core/base/runtime.ts'
import { openDatabase } from '@trunkline/gateway/src/core/database/open.ts'
import { CACHE, keptInCache } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { createLogger } from '@trunkline/gateway/src/ops/logger.ts'

/** The administrator of every gateway whose first start is not under test. */
export const ADMINISTRATOR = { username: 'admin', password: 'correct horse battery' }

/** Directory of Node's compile cache. It halves the time that a gateway needs to load its modules. */
export const COMPILE_CACHE: string = join(CACHE, 'compiled')

/**
 * Copies a migrated database that contains the administrator into a new data directory. This saves each test gateway the
 * seconds that a first start takes.
 */
export async function copyPreparedDataDir(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  // PGlite has about a thousand files, for which `cpSync` takes five times as long as `cp`.
  await promisify(execFile)('cp', ['-R', join(await preparedDataDir(), 'db'), dataDir])
}

function preparedDataDir(): Promise<string> {
  return keptInCache('prepared', async (path) => {
    // PGlite creates only the last directory of a path.
    await mkdir(path)
    await prepare({ kind: 'embedded', dataDir: path })
  })
}

async function prepare(options: Parameters<typeof openDatabase>[0]): Promise<void> {
  const database = await openDatabase(options)
  await database.migrate()
  const config = parseConfig({ agents: { openai: { baseUrl: 'http://127.0.0.1:9', model: 'none' } } }, {})
  const log = createLogger('silent')
  const gateway = await createGateway({ config, database, runtime: systemRuntime, log })
  await gateway.processTasks.firstStart.createFirstAdmin(ADMINISTRATOR)
  await gateway.close()
  await database.close()
}

// The global setup of a test run cannot load WebAssembly, so it runs this module in a separate process.
if (import.meta.main) {
  const [, , url] = process.argv
  if (url === undefined) await preparedDataDir()
  else await prepare({ kind: 'server', url })
}
