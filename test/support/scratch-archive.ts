import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const MODULE = '../../apps/gateway/src/core/database/scratch-database.test-support.ts'

/**
 * Global setup of the tests beside their sources: makes the archive from which their embedded databases are unpacked, in a
 * process of its own, because a global setup cannot load WebAssembly.
 */
export default async function makeArchive(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, MODULE)])
}
