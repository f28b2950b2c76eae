import { mkdtemp, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '#config/load.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import { isOpenToOthers } from '#core/database/disk/private-directory.ts'
import { contentOfFolder } from '#core/database/embedded/database-folder.ts'
import { bounded, type Finding, findingsOf } from './finding.ts'

/** A file system of a network may hang. */
const WITHIN_MS = 5_000

/** Checks that the data directory, or the nearest one above it that exists, can be written. */
export async function checkDataDir({ dataDir, databaseUrl, s3 }: Config): Promise<readonly Finding[]> {
  // Nothing is stored in it then.
  if (databaseUrl !== undefined && s3 !== undefined) return []
  const { ok, warning, error } = findingsOf('data_dir')
  const what = [databaseUrl === undefined && 'the embedded database', s3 === undefined && 'uploaded files']
  const content = what.filter((each) => each !== false).join(' and ')

  async function check(): Promise<readonly Finding[]> {
    const existing = await nearestDirectory(dataDir)
    if (databaseUrl === undefined && existing === dataDir) await contentOfFolder(join(dataDir, 'db'))
    // The only sure check: permissions do not tell about a file system that is full or read-only.
    await rmdir(await mkdtemp(join(existing, '.trunkline-check-')))
    if (existing === dataDir && (await isOpenToOthers(dataDir)))
      return [
        warning(`DATA_DIR: ${dataDir} can be written, but is open to other accounts: chmod 700 ${dataDir}`),
      ]
    const state = existing === dataDir ? 'can be written' : `will be made in ${existing}`
    return [ok(`DATA_DIR: ${dataDir} ${state}, for ${content}.`)]
  }
  return bounded(WITHIN_MS, check(), (reason, cause) =>
    error(
      cause instanceof OperatorError
        ? reason
        : `DATA_DIR: ${dataDir} cannot be written (${errorCode(cause) ?? reason}); it is for ${content}.`,
    ),
  )
}

async function nearestDirectory(path: string): Promise<string> {
  try {
    const found = await stat(path)
    if (!found.isDirectory()) throw new Error(`${path} is a file`)
    return path
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    return nearestDirectory(dirname(path))
  }
}
