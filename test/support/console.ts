import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')

/**
 * Builds the console, unless its sources have not changed. A gateway that is started afterwards serves it. Tests that run side
 * by side may call this at once.
 */
export async function buildConsole(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(ROOT, 'apps/console/scripts/build.ts')])
}
