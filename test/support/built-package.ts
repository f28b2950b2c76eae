import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const PACKAGE = join(import.meta.dirname, '../../packages/trunkline')

/**
 * Builds the package `trunkline`, console included, unless its sources have not changed, and returns the path of its entry. From
 * there a gateway starts in half the CPU time that its thousand modules take: a run of the tests starts several hundred.
 */
export async function buildPackage(): Promise<string> {
  await build()
  return join(PACKAGE, 'dist/trunkline.js')
}

/** Builds the package and returns the path of the file that npm publishes and installs. */
export async function packTrunkline(): Promise<string> {
  await build('--pack')
  return join(PACKAGE, 'trunkline.tgz')
}

async function build(...options: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [join(PACKAGE, 'scripts/build.ts'), ...options])
}
